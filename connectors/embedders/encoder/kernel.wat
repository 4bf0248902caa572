;; The encoder's operations. Addresses are bytes of the memory; numbers are 32-bit floats unless stated otherwise. Rows
;; follow each other. No operation depends on the processor, so that every one of them computes the same vectors.
;; bin/write-kernels.ts assembles this file once per spelling of STEP, which adds to four 32-bit sums the products of
;; eight 8-bit weights each with the same eight 7-bit values.
(module
  (import "host" "memory" (memory 1))
  ;; Computes the product of `rows` rows of `depth` values with a matrix, plus a bias per column, and at least `least`.
  ;; The values are 0 to 127, with a scale and the value that stands for 0 per row, as `quantise` writes them. The matrix
  ;; is stored in panels of 8 columns: for every 8 values of the depth the weights of the first 4 for the columns, then
  ;; those of the last 4; after them, each for 8 columns, the sums of weights as integers, the scales and the biases.
  ;; `rows` is a multiple of 4, `depth` and `columns` of 8. Four rows by eight columns at a time fit in registers.
  (func (export "multiply")
    (param $rows i32) (param $depth i32) (param $columns i32)
    (param $left i32) (param $scales i32) (param $right i32) (param $least f32) (param $out i32)
    (local $a0 v128) (local $a1 v128) (local $b0 v128) (local $b1 v128)
    (local $c0 v128) (local $c1 v128) (local $d0 v128) (local $d1 v128)
    (local $p0 v128) (local $p1 v128) (local $q0 v128) (local $q1 v128) (local $x v128) (local $y v128)
    (local $ra i32) (local $rb i32) (local $rc i32) (local $rd i32)
    (local $panel i32) (local $row i32) (local $end i32) (local $scale i32) (local $to i32) (local $step i32)
    (local.set $step (i32.shl (local.get $columns) (i32.const 2)))
    (loop $panels
      (local.set $row (local.get $rows))
      (local.set $ra (local.get $left))
      (local.set $to (local.get $out))
      (loop $rows
        (local.set $rb (i32.add (local.get $ra) (local.get $depth)))
        (local.set $rc (i32.add (local.get $rb) (local.get $depth)))
        (local.set $rd (i32.add (local.get $rc) (local.get $depth)))
        (local.set $end (local.get $rb))
        (local.set $panel (local.get $right))
        (local.set $a0 (v128.const i32x4 0 0 0 0)) (local.set $a1 (local.get $a0))
        (local.set $b0 (local.get $a0)) (local.set $b1 (local.get $a0))
        (local.set $c0 (local.get $a0)) (local.set $c1 (local.get $a0))
        (local.set $d0 (local.get $a0)) (local.set $d1 (local.get $a0))
        (loop $eight
          (local.set $p0 (v128.load (local.get $panel)))
          (local.set $p1 (v128.load offset=16 (local.get $panel)))
          (local.set $q0 (v128.load offset=32 (local.get $panel)))
          (local.set $q1 (v128.load offset=48 (local.get $panel)))
          (local.set $panel (i32.add (local.get $panel) (i32.const 64)))
          (local.set $x (v128.load32_splat (local.get $ra)))
          (local.set $y (v128.load32_splat offset=4 (local.get $ra)))
          (local.set $a0 (STEP $a0 $p0 $q0 $x $y))
          (local.set $a1 (STEP $a1 $p1 $q1 $x $y))
          (local.set $ra (i32.add (local.get $ra) (i32.const 8)))
          (local.set $x (v128.load32_splat (local.get $rb)))
          (local.set $y (v128.load32_splat offset=4 (local.get $rb)))
          (local.set $b0 (STEP $b0 $p0 $q0 $x $y))
          (local.set $b1 (STEP $b1 $p1 $q1 $x $y))
          (local.set $rb (i32.add (local.get $rb) (i32.const 8)))
          (local.set $x (v128.load32_splat (local.get $rc)))
          (local.set $y (v128.load32_splat offset=4 (local.get $rc)))
          (local.set $c0 (STEP $c0 $p0 $q0 $x $y))
          (local.set $c1 (STEP $c1 $p1 $q1 $x $y))
          (local.set $rc (i32.add (local.get $rc) (i32.const 8)))
          (local.set $x (v128.load32_splat (local.get $rd)))
          (local.set $y (v128.load32_splat offset=4 (local.get $rd)))
          (local.set $d0 (STEP $d0 $p0 $q0 $x $y))
          (local.set $d1 (STEP $d1 $p1 $q1 $x $y))
          (local.set $rd (i32.add (local.get $rd) (i32.const 8)))
          (br_if $eight (i32.lt_u (local.get $ra) (local.get $end))))
        (v128.store (local.get $to) (local.get $a0))
        (v128.store offset=16 (local.get $to) (local.get $a1))
        (local.set $to (i32.add (local.get $to) (local.get $step)))
        (v128.store (local.get $to) (local.get $b0))
        (v128.store offset=16 (local.get $to) (local.get $b1))
        (local.set $to (i32.add (local.get $to) (local.get $step)))
        (v128.store (local.get $to) (local.get $c0))
        (v128.store offset=16 (local.get $to) (local.get $c1))
        (local.set $to (i32.add (local.get $to) (local.get $step)))
        (v128.store (local.get $to) (local.get $d0))
        (v128.store offset=16 (local.get $to) (local.get $d1))
        (local.set $to (i32.add (local.get $to) (local.get $step)))
        ;; The last row has been read to its end, where the next four begin.
        (local.set $ra (local.get $rd))
        (local.set $row (i32.sub (local.get $row) (i32.const 4)))
        (br_if $rows (local.get $row)))
      ;; The sums of all rows become the numbers that they stand for.
      (local.set $p0 (v128.load (local.get $panel)))
      (local.set $p1 (v128.load offset=16 (local.get $panel)))
      (local.set $a0 (v128.load offset=32 (local.get $panel)))
      (local.set $a1 (v128.load offset=48 (local.get $panel)))
      (local.set $b0 (v128.load offset=64 (local.get $panel)))
      (local.set $b1 (v128.load offset=80 (local.get $panel)))
      (local.set $d0 (f32x4.splat (local.get $least)))
      (local.set $row (local.get $rows))
      (local.set $scale (local.get $scales))
      (local.set $to (local.get $out))
      (loop $rows
        (local.set $x (v128.load32_splat (local.get $scale)))
        (local.set $y (v128.load32_splat offset=4 (local.get $scale)))
        (v128.store (local.get $to) (f32x4.pmax (local.get $d0) (f32x4.add (local.get $b0)
          (f32x4.mul (f32x4.mul (local.get $x) (local.get $a0)) (f32x4.convert_i32x4_s
            (i32x4.sub (v128.load (local.get $to)) (i32x4.mul (local.get $y) (local.get $p0))))))))
        (v128.store offset=16 (local.get $to) (f32x4.pmax (local.get $d0) (f32x4.add (local.get $b1)
          (f32x4.mul (f32x4.mul (local.get $x) (local.get $a1)) (f32x4.convert_i32x4_s
            (i32x4.sub (v128.load offset=16 (local.get $to)) (i32x4.mul (local.get $y) (local.get $p1))))))))
        (local.set $to (i32.add (local.get $to) (local.get $step)))
        (local.set $scale (i32.add (local.get $scale) (i32.const 8)))
        (local.set $row (i32.sub (local.get $row) (i32.const 1)))
        (br_if $rows (local.get $row)))
      (local.set $right (i32.add (local.get $panel) (i32.const 96)))
      (local.set $out (i32.add (local.get $out) (i32.const 32)))
      (local.set $columns (i32.sub (local.get $columns) (i32.const 8)))
      (br_if $panels (local.get $columns))))
  ;; Maps each row's numbers, and 0, to 0 to 127: writes bytes to `out`, and per row to `scales` how much one step is and
  ;; as a 32-bit integer what 0 became. `width` is a multiple of 16.
  (func (export "quantise") (param $rows i32) (param $width i32) (param $from i32) (param $out i32) (param $scales i32)
    (local $low v128) (local $high v128) (local $x v128) (local $by v128) (local $zero v128)
    (local $at i32) (local $end i32) (local $least f32) (local $range f32)
    (loop $row
      (local.set $end (i32.add (local.get $from) (i32.shl (local.get $width) (i32.const 2))))
      (local.set $low (v128.const f32x4 0 0 0 0))
      (local.set $high (v128.const f32x4 0 0 0 0))
      (local.set $at (local.get $from))
      (loop $four
        (local.set $x (v128.load (local.get $at)))
        (local.set $low (f32x4.pmin (local.get $low) (local.get $x)))
        (local.set $high (f32x4.pmax (local.get $high) (local.get $x)))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br_if $four (i32.lt_u (local.get $at) (local.get $end))))
      (local.set $least (f32.neg (call $most (f32x4.neg (local.get $low)))))
      (local.set $range (f32.sub (call $most (local.get $high)) (local.get $least)))
      ;; A row of zeros has no range, and any will do.
      (local.set $range (select (local.get $range) (f32.const 1) (f32.gt (local.get $range) (f32.const 0))))
      (local.set $by (f32x4.splat (f32.div (f32.const 127) (local.get $range))))
      (local.set $zero (f32x4.nearest (f32x4.mul (f32x4.splat (f32.neg (local.get $least))) (local.get $by))))
      (f32.store (local.get $scales) (f32.div (local.get $range) (f32.const 127)))
      (i32.store offset=4 (local.get $scales) (i32x4.extract_lane 0 (i32x4.trunc_sat_f32x4_s (local.get $zero))))
      (loop $sixteen
        (v128.store (local.get $out) (i8x16.min_u (v128.const i32x4 0x7f7f7f7f 0x7f7f7f7f 0x7f7f7f7f 0x7f7f7f7f)
          (i8x16.narrow_i16x8_u
            (i16x8.narrow_i32x4_s
              (call $steps (v128.load (local.get $from)) (local.get $by) (local.get $zero))
              (call $steps (v128.load offset=16 (local.get $from)) (local.get $by) (local.get $zero)))
            (i16x8.narrow_i32x4_s
              (call $steps (v128.load offset=32 (local.get $from)) (local.get $by) (local.get $zero))
              (call $steps (v128.load offset=48 (local.get $from)) (local.get $by) (local.get $zero))))))
        (local.set $out (i32.add (local.get $out) (i32.const 16)))
        (local.set $from (i32.add (local.get $from) (i32.const 64)))
        (br_if $sixteen (i32.lt_u (local.get $from) (local.get $end))))
      (local.set $scales (i32.add (local.get $scales) (i32.const 8)))
      (local.set $rows (i32.sub (local.get $rows) (i32.const 1)))
      (br_if $row (local.get $rows))))
  (func $steps (param $x v128) (param $by v128) (param $zero v128) (result v128)
    (i32x4.trunc_sat_f32x4_s
      (f32x4.add (f32x4.nearest (f32x4.mul (local.get $x) (local.get $by))) (local.get $zero))))
  ;; Normalises each row to mean 0 and deviation 1, then scales and biases its columns. `width` is a multiple of 4.
  (func (export "normalise")
    (param $rows i32) (param $width i32) (param $from i32) (param $scale i32) (param $bias i32) (param $out i32)
    (local $sums v128) (local $mean v128) (local $by v128) (local $x v128) (local $at i32) (local $end i32) (local $column i32)
    (loop $row
      (local.set $end (i32.add (local.get $from) (i32.shl (local.get $width) (i32.const 2))))
      (local.set $sums (v128.const f32x4 0 0 0 0))
      (local.set $at (local.get $from))
      (loop $four
        (local.set $sums (f32x4.add (local.get $sums) (v128.load (local.get $at))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br_if $four (i32.lt_u (local.get $at) (local.get $end))))
      (local.set $mean (f32x4.splat (f32.div (call $sum (local.get $sums)) (f32.convert_i32_u (local.get $width)))))
      (local.set $sums (v128.const f32x4 0 0 0 0))
      (local.set $at (local.get $from))
      (loop $four
        (local.set $x (f32x4.sub (v128.load (local.get $at)) (local.get $mean)))
        (local.set $sums (f32x4.add (local.get $sums) (f32x4.mul (local.get $x) (local.get $x))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br_if $four (i32.lt_u (local.get $at) (local.get $end))))
      ;; The addend prevents a division by zero when all numbers are equal.
      (local.set $by (f32x4.splat (f32.div (f32.const 1) (f32.sqrt (f32.add (f32.const 1e-6)
        (f32.div (call $sum (local.get $sums)) (f32.convert_i32_u (local.get $width))))))))
      (local.set $column (i32.const 0))
      (loop $four
        (v128.store (local.get $out) (f32x4.add
          (v128.load (i32.add (local.get $bias) (local.get $column)))
          (f32x4.mul
            (v128.load (i32.add (local.get $scale) (local.get $column)))
            (f32x4.mul (local.get $by) (f32x4.sub (v128.load (local.get $from)) (local.get $mean))))))
        (local.set $column (i32.add (local.get $column) (i32.const 16)))
        (local.set $out (i32.add (local.get $out) (i32.const 16)))
        (local.set $from (i32.add (local.get $from) (i32.const 16)))
        (br_if $four (i32.lt_u (local.get $from) (local.get $end))))
      (local.set $rows (i32.sub (local.get $rows) (i32.const 1)))
      (br_if $row (local.get $rows))))
  ;; Writes to `out` the sum of values, weighted by the softmax of their keys' products with a query times `factor`.
  ;; `count` keys and values are `stride` bytes apart and have `size` numbers, a multiple of 16. `shares` is space for
  ;; `count` numbers and four more.
  (func (export "attend")
    (param $query i32) (param $keys i32) (param $values i32) (param $count i32) (param $stride i32) (param $size i32)
    (param $factor f32) (param $shares i32) (param $out i32)
    (local $at i32) (local $end i32)
    (local.set $at (local.get $shares))
    (local.set $end (i32.add (local.get $at) (i32.shl (local.get $count) (i32.const 2))))
    (loop $key
      (f32.store (local.get $at)
        (f32.mul (local.get $factor) (call $dot (local.get $query) (local.get $keys) (local.get $size))))
      (local.set $keys (i32.add (local.get $keys) (local.get $stride)))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br_if $key (i32.lt_u (local.get $at) (local.get $end))))
    (call $softmax (local.get $shares) (local.get $end))
    (call $blend (local.get $shares) (local.get $values) (local.get $count) (local.get $stride) (local.get $size)
      (local.get $out)))
  ;; Writes to `out` the sum of `count` rows, `stride` bytes apart and of `size` numbers, a multiple of 16, times their
  ;; shares. `out` may be one of the rows.
  (func $blend (export "blend")
    (param $shares i32) (param $from i32) (param $count i32) (param $stride i32) (param $size i32) (param $out i32)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128) (local $by v128)
    (local $share i32) (local $row i32) (local $last i32)
    (local.set $last (i32.add (local.get $shares) (i32.shl (local.get $count) (i32.const 2))))
    (loop $columns
      (local.set $a (v128.const f32x4 0 0 0 0)) (local.set $b (local.get $a))
      (local.set $c (local.get $a)) (local.set $d (local.get $a))
      (local.set $row (local.get $from))
      (local.set $share (local.get $shares))
      (loop $rows
        (local.set $by (v128.load32_splat (local.get $share)))
        (local.set $a (f32x4.add (local.get $a) (f32x4.mul (local.get $by) (v128.load (local.get $row)))))
        (local.set $b (f32x4.add (local.get $b) (f32x4.mul (local.get $by) (v128.load offset=16 (local.get $row)))))
        (local.set $c (f32x4.add (local.get $c) (f32x4.mul (local.get $by) (v128.load offset=32 (local.get $row)))))
        (local.set $d (f32x4.add (local.get $d) (f32x4.mul (local.get $by) (v128.load offset=48 (local.get $row)))))
        (local.set $row (i32.add (local.get $row) (local.get $stride)))
        (local.set $share (i32.add (local.get $share) (i32.const 4)))
        (br_if $rows (i32.lt_u (local.get $share) (local.get $last))))
      (v128.store (local.get $out) (local.get $a))
      (v128.store offset=16 (local.get $out) (local.get $b))
      (v128.store offset=32 (local.get $out) (local.get $c))
      (v128.store offset=48 (local.get $out) (local.get $d))
      (local.set $from (i32.add (local.get $from) (i32.const 64)))
      (local.set $out (i32.add (local.get $out) (i32.const 64)))
      (local.set $size (i32.sub (local.get $size) (i32.const 16)))
      (br_if $columns (local.get $size))))
  ;; Adds `count` numbers, a multiple of 4, to others.
  (func (export "add") (param $to i32) (param $from i32) (param $count i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $to) (i32.shl (local.get $count) (i32.const 2))))
    (loop $four
      (v128.store (local.get $to) (f32x4.add (v128.load (local.get $from)) (v128.load (local.get $to))))
      (local.set $from (i32.add (local.get $from) (i32.const 16)))
      (local.set $to (i32.add (local.get $to) (i32.const 16)))
      (br_if $four (i32.lt_u (local.get $to) (local.get $end)))))
  ;; Computes the product of two vectors of `size` numbers, a multiple of 16.
  (func $dot (param $a i32) (param $b i32) (param $size i32) (result f32)
    (local $even v128) (local $odd v128) (local $end i32)
    (local.set $end (i32.add (local.get $a) (i32.shl (local.get $size) (i32.const 2))))
    (loop $sixteen
      (local.set $even (f32x4.add (local.get $even) (f32x4.add
        (f32x4.mul (v128.load (local.get $a)) (v128.load (local.get $b)))
        (f32x4.mul (v128.load offset=16 (local.get $a)) (v128.load offset=16 (local.get $b))))))
      (local.set $odd (f32x4.add (local.get $odd) (f32x4.add
        (f32x4.mul (v128.load offset=32 (local.get $a)) (v128.load offset=32 (local.get $b)))
        (f32x4.mul (v128.load offset=48 (local.get $a)) (v128.load offset=48 (local.get $b))))))
      (local.set $b (i32.add (local.get $b) (i32.const 64)))
      (local.set $a (i32.add (local.get $a) (i32.const 64)))
      (br_if $sixteen (i32.lt_u (local.get $a) (local.get $end))))
    (call $sum (f32x4.add (local.get $even) (local.get $odd))))
  ;; Replaces the numbers up to `end` by their exponentials, scaled to the sum 1. Overwrites the 16 bytes at `end`.
  (func $softmax (param $from i32) (param $end i32)
    (local $most v128) (local $sums v128) (local $x v128) (local $at i32)
    (v128.store (local.get $end) (f32x4.splat (f32.const -inf)))
    (local.set $most (f32x4.splat (f32.const -inf)))
    (local.set $at (local.get $from))
    (loop $four
      (local.set $most (f32x4.pmax (local.get $most) (v128.load (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br_if $four (i32.lt_u (local.get $at) (local.get $end))))
    (local.set $most (f32x4.splat (call $most (local.get $most))))
    (local.set $at (local.get $from))
    (loop $four
      (local.set $x (call $exp (f32x4.sub (v128.load (local.get $at)) (local.get $most))))
      (v128.store (local.get $at) (local.get $x))
      (local.set $sums (f32x4.add (local.get $sums) (local.get $x)))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br_if $four (i32.lt_u (local.get $at) (local.get $end))))
    (local.set $x (f32x4.splat (f32.div (f32.const 1) (call $sum (local.get $sums)))))
    (loop $four
      (v128.store (local.get $from) (f32x4.mul (local.get $x) (v128.load (local.get $from))))
      (local.set $from (i32.add (local.get $from) (i32.const 16)))
      (br_if $four (i32.lt_u (local.get $from) (local.get $end)))))
  ;; Computes exponentials of numbers up to 0; those below -87, where floats end, have 0. Cuts e^x into 2^n * e^r with r
  ;; from -0.35 to 0.35, and computes e^r by the polynomial of the Cephes library; ln 2 is subtracted in two parts.
  (func $exp (param $x v128) (result v128)
    (local $n v128) (local $r v128)
    (local.set $n (f32x4.nearest (f32x4.mul
      (f32x4.pmax (local.get $x) (f32x4.splat (f32.const -87))) (f32x4.splat (f32.const 1.44269504)))))
    (local.set $r (f32x4.sub
      (f32x4.sub (local.get $x) (f32x4.mul (local.get $n) (f32x4.splat (f32.const 0.693359375))))
      (f32x4.mul (local.get $n) (f32x4.splat (f32.const -2.12194440e-4)))))
    (v128.and (f32x4.ge (local.get $x) (f32x4.splat (f32.const -87)))
      (f32x4.mul
        (i32x4.shl (i32x4.add (i32x4.trunc_sat_f32x4_s (local.get $n)) (i32x4.splat (i32.const 127))) (i32.const 23))
        (f32x4.add (f32x4.splat (f32.const 1)) (f32x4.add (local.get $r)
          (f32x4.mul (f32x4.mul (local.get $r) (local.get $r))
            (f32x4.add (f32x4.splat (f32.const 5.0000001201e-1)) (f32x4.mul (local.get $r)
            (f32x4.add (f32x4.splat (f32.const 1.6666665459e-1)) (f32x4.mul (local.get $r)
            (f32x4.add (f32x4.splat (f32.const 4.1665795894e-2)) (f32x4.mul (local.get $r)
            (f32x4.add (f32x4.splat (f32.const 8.3334519073e-3)) (f32x4.mul (local.get $r)
            (f32x4.add (f32x4.splat (f32.const 1.3981999507e-3)) (f32x4.mul (local.get $r)
              (f32x4.splat (f32.const 1.9875691500e-4))))))))))))))))))
  (func $sum (param $x v128) (result f32)
    (f32.add
      (f32.add (f32x4.extract_lane 0 (local.get $x)) (f32x4.extract_lane 1 (local.get $x)))
      (f32.add (f32x4.extract_lane 2 (local.get $x)) (f32x4.extract_lane 3 (local.get $x)))))
  (func $most (param $x v128) (result f32)
    (f32.max
      (f32.max (f32x4.extract_lane 0 (local.get $x)) (f32x4.extract_lane 1 (local.get $x)))
      (f32.max (f32x4.extract_lane 2 (local.get $x)) (f32x4.extract_lane 3 (local.get $x))))))
