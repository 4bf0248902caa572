// Where cel-js does not do what the official suite says, by reason. None concerns JSON data in an ordinary filter.
export const DEVIATIONS: Record<string, string[]> = {
  "Refused by the type check: the literals on both sides cannot have these types.": [
    ...["basic/functions/unbound_is_runtime_error", "comparisons/eq_literal/not_eq_list_length"],
    ...["comparisons/eq_literal/eq_mixed_types", "comparisons/eq_literal/eq_list_elem_mixed_types"],
    ...["comparisons/ne_literal/ne_mixed_types", "logic/conditional/mixed_type"],
    ...["logic/AND/short_circuit_type_left", "logic/AND/short_circuit_type_right"],
    ...["logic/OR/short_circuit_type_left", "logic/OR/short_circuit_type_right"],
  ],
  "A non-ASCII byte literal is not UTF-8.": [
    "comparisons/eq_literal/eq_bytes",
    "comparisons/ne_literal/not_ne_bytes",
  ],
  "uint, which JSON does not have, does not mix with other numbers.": [
    "comparisons/eq_literal/eq_list_mixed_type_numbers",
    ...["comparisons/eq_literal/eq_map_mixed_type_numbers", "lists/index/zero_based_uint"],
    ...["lists/in/uint_in_ints", "lists/in/uint_in_doubles", "lists/in/int_in_uints"],
    "lists/in/double_in_uints",
  ],
  "Comparing an int beyond 2^53 with a double is exact.": [
    "comparisons/lt_literal/not_lt_dyn_int_big_lossy_double",
    "comparisons/gt_literal/not_gt_dyn_big_double_int",
    "comparisons/lte_literal/lte_dyn_big_double_int",
    "comparisons/gte_literal/gte_dyn_int_big_lossy_double",
  ],
  "Syntax and types: a double without a leading digit, macros over an empty list literal.": [
    "comparisons/gt_literal/not_gt_double",
    "macros/all/list_empty",
  ],
  "A duration plus a timestamp is typed as a duration: write the timestamp first.": [
    "timestamps/timestamp_arithmetic/add_time_to_duration",
  ],
  "Map literals: has() on one, and doubles as its keys.": [
    ...["fields/map_has/has", "fields/map_has/has_not", "fields/map_has/has_empty"],
    "fields/qualified_identifier_resolution/map_key_float",
  ],
  "Map literals: the keys of one are texts when a macro runs over it.": ["macros/exists_one/map_one"],
  "Values that nest more than 8 lists or maps (lib/filter/cost.ts).": [
    "parse/nest/list_literal",
    "parse/nest/map_literal",
  ],
  "Reserved words as names of methods.": [
    ...["parse/receiver_function_names/as", "parse/receiver_function_names/break"],
    ...["parse/receiver_function_names/const", "parse/receiver_function_names/continue"],
    ...["parse/receiver_function_names/else", "parse/receiver_function_names/for"],
    ...["parse/receiver_function_names/function", "parse/receiver_function_names/if"],
    ...["parse/receiver_function_names/import", "parse/receiver_function_names/let"],
    ...["parse/receiver_function_names/loop", "parse/receiver_function_names/package"],
    ...["parse/receiver_function_names/namespace", "parse/receiver_function_names/return"],
    ...["parse/receiver_function_names/var", "parse/receiver_function_names/void"],
    "parse/receiver_function_names/while",
  ],
};
