;; Vector search: the query's components are 16-bit integers, the rows' are 8-bit integers.
(module
  (import "host" "memory" (memory 1))
  ;; Computes the products of the query with rows, as 32-bit integers. `list` has the rows' addresses, `count` is a
  ;; multiple of 4, `dims` of 8. Takes four rows together to wait for memory only once.
  (func (export "dots")
    (param $query i32) (param $dims i32) (param $list i32) (param $count i32) (param $out i32)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128) (local $q v128)
    (local $r0 i32) (local $r1 i32) (local $r2 i32) (local $r3 i32) (local $at i32) (local $end i32)
    (local.set $end (i32.add (local.get $query) (i32.shl (local.get $dims) (i32.const 1))))
    (block $done
      (loop $four
        (br_if $done (i32.eqz (local.get $count)))
        (local.set $r0 (i32.load (local.get $list)))
        (local.set $r1 (i32.load offset=4 (local.get $list)))
        (local.set $r2 (i32.load offset=8 (local.get $list)))
        (local.set $r3 (i32.load offset=12 (local.get $list)))
        (local.set $list (i32.add (local.get $list) (i32.const 16)))
        (local.set $at (local.get $query))
        (local.set $a (v128.const i32x4 0 0 0 0))
        (local.set $b (v128.const i32x4 0 0 0 0))
        (local.set $c (v128.const i32x4 0 0 0 0))
        (local.set $d (v128.const i32x4 0 0 0 0))
        (loop $eight
          (local.set $q (v128.load (local.get $at)))
          (local.set $a (i32x4.add (local.get $a)
            (i32x4.dot_i16x8_s (local.get $q) (v128.load8x8_s (local.get $r0)))))
          (local.set $b (i32x4.add (local.get $b)
            (i32x4.dot_i16x8_s (local.get $q) (v128.load8x8_s (local.get $r1)))))
          (local.set $c (i32x4.add (local.get $c)
            (i32x4.dot_i16x8_s (local.get $q) (v128.load8x8_s (local.get $r2)))))
          (local.set $d (i32x4.add (local.get $d)
            (i32x4.dot_i16x8_s (local.get $q) (v128.load8x8_s (local.get $r3)))))
          (local.set $r0 (i32.add (local.get $r0) (i32.const 8)))
          (local.set $r1 (i32.add (local.get $r1) (i32.const 8)))
          (local.set $r2 (i32.add (local.get $r2) (i32.const 8)))
          (local.set $r3 (i32.add (local.get $r3) (i32.const 8)))
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br_if $eight (i32.lt_u (local.get $at) (local.get $end))))
        (call $store (local.get $out) (local.get $a))
        (call $store (i32.add (local.get $out) (i32.const 4)) (local.get $b))
        (call $store (i32.add (local.get $out) (i32.const 8)) (local.get $c))
        (call $store (i32.add (local.get $out) (i32.const 12)) (local.get $d))
        (local.set $out (i32.add (local.get $out) (i32.const 16)))
        (local.set $count (i32.sub (local.get $count) (i32.const 4)))
        (br $four))))
  ;; Computes the product of the query with one row.
  (func (export "dot") (param $query i32) (param $dims i32) (param $row i32) (result i32)
    (local $sums v128) (local $end i32)
    (local.set $end (i32.add (local.get $row) (local.get $dims)))
    (loop $eight
      (local.set $sums (i32x4.add (local.get $sums)
        (i32x4.dot_i16x8_s (v128.load (local.get $query)) (v128.load8x8_s (local.get $row)))))
      (local.set $query (i32.add (local.get $query) (i32.const 16)))
      (local.set $row (i32.add (local.get $row) (i32.const 8)))
      (br_if $eight (i32.lt_u (local.get $row) (local.get $end))))
    (call $sum (local.get $sums)))
  ;; Computes the signs of a row: one bit per component, set if the component times `scale` is above that of `center`,
  ;; which has 32-bit floats. `dims` is a multiple of 8.
  (func (export "signs")
    (param $row i32) (param $dims i32) (param $scale f32) (param $center i32) (param $out i32)
    (local $x v128) (local $by v128) (local $end i32)
    (local.set $by (f32x4.splat (local.get $scale)))
    (local.set $end (i32.add (local.get $row) (local.get $dims)))
    (loop $eight
      (local.set $x (v128.load8x8_s (local.get $row)))
      (i32.store8 (local.get $out) (i32.or
        (i32x4.bitmask (f32x4.gt
          (f32x4.mul (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_s (local.get $x))) (local.get $by))
          (v128.load (local.get $center))))
        (i32.shl (i32x4.bitmask (f32x4.gt
          (f32x4.mul (f32x4.convert_i32x4_s (i32x4.extend_high_i16x8_s (local.get $x))) (local.get $by))
          (v128.load offset=16 (local.get $center)))) (i32.const 4))))
      (local.set $row (i32.add (local.get $row) (i32.const 8)))
      (local.set $center (i32.add (local.get $center) (i32.const 32)))
      (local.set $out (i32.add (local.get $out) (i32.const 1)))
      (br_if $eight (i32.lt_u (local.get $row) (local.get $end)))))
  ;; Counts the bits in which rows differ from the query: writes 16-bit integers to `out`, and the number of rows of each
  ;; distance to `histogram`. Rows whose byte in `mask` is 0 are skipped and get 0xffff. `bytes` is a multiple of 16; row i
  ;; begins at `from + i * bytes`. One instruction counts 64 bits; 128 bits would need many.
  (func (export "distances")
    (param $query i32) (param $bytes i32) (param $from i32) (param $rows i32)
    (param $mask i32) (param $out i32) (param $histogram i32)
    (local $count i64) (local $distance i32) (local $at i32) (local $row i32) (local $end i32)
    (local.set $end (i32.add (local.get $query) (local.get $bytes)))
    (loop $next
      (local.set $distance (i32.const 0xffff))
      (if (i32.load8_u (local.get $mask)) (then
        (local.set $at (local.get $query))
        (local.set $row (local.get $from))
        (local.set $count (i64.const 0))
        (loop $sixteen
          (local.set $count (i64.add (local.get $count) (i64.add
            (i64.popcnt (i64.xor (i64.load (local.get $at)) (i64.load (local.get $row))))
            (i64.popcnt (i64.xor (i64.load offset=8 (local.get $at)) (i64.load offset=8 (local.get $row)))))))
          (local.set $row (i32.add (local.get $row) (i32.const 16)))
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br_if $sixteen (i32.lt_u (local.get $at) (local.get $end))))
        (local.set $distance (i32.wrap_i64 (local.get $count)))
        (local.set $at (i32.add (local.get $histogram) (i32.shl (local.get $distance) (i32.const 2))))
        (i32.store (local.get $at) (i32.add (i32.load (local.get $at)) (i32.const 1)))))
      (i32.store16 (local.get $out) (local.get $distance))
      (local.set $from (i32.add (local.get $from) (local.get $bytes)))
      (local.set $mask (i32.add (local.get $mask) (i32.const 1)))
      (local.set $out (i32.add (local.get $out) (i32.const 2)))
      (local.set $rows (i32.sub (local.get $rows) (i32.const 1)))
      (br_if $next (local.get $rows))))
  ;; Writes the numbers of the rows with a distance below `edge`, and of the first `room` at it, to `out` as 32-bit
  ;; integers. Returns how many there are. `rows` is a multiple of 8.
  (func (export "nearest")
    (param $distances i32) (param $rows i32) (param $edge i32) (param $room i32) (param $out i32) (result i32)
    (local $row i32) (local $last i32) (local $distance i32) (local $from i32)
    (local.set $from (local.get $out))
    (loop $eight
      (local.set $last (i32.add (local.get $row) (i32.const 8)))
      (if (v128.any_true (i16x8.le_u
            (v128.load (i32.add (local.get $distances) (i32.shl (local.get $row) (i32.const 1))))
            (i16x8.splat (local.get $edge))))
        (then (loop $one
          (local.set $distance
            (i32.load16_u (i32.add (local.get $distances) (i32.shl (local.get $row) (i32.const 1)))))
          (if (i32.or
                (i32.lt_u (local.get $distance) (local.get $edge))
                (i32.and (i32.eq (local.get $distance) (local.get $edge)) (i32.gt_s (local.get $room) (i32.const 0))))
            (then
              (local.set $room (i32.sub (local.get $room) (i32.eq (local.get $distance) (local.get $edge))))
              (i32.store (local.get $out) (local.get $row))
              (local.set $out (i32.add (local.get $out) (i32.const 4)))))
          (local.set $row (i32.add (local.get $row) (i32.const 1)))
          (br_if $one (i32.lt_u (local.get $row) (local.get $last))))))
      (local.set $row (local.get $last))
      (br_if $eight (i32.lt_u (local.get $row) (local.get $rows))))
    (i32.shr_u (i32.sub (local.get $out) (local.get $from)) (i32.const 2)))
  (func $store (param $to i32) (param $sums v128)
    (i32.store (local.get $to) (call $sum (local.get $sums))))
  (func $sum (param $sums v128) (result i32)
    (i32.add
      (i32.add (i32x4.extract_lane 0 (local.get $sums)) (i32x4.extract_lane 1 (local.get $sums)))
      (i32.add (i32x4.extract_lane 2 (local.get $sums)) (i32x4.extract_lane 3 (local.get $sums))))))
