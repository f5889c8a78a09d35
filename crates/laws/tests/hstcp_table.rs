//! HighSpeed TCP against the table of RFC 3649, appendix B, row by row.

use knee_laws::senders::hstcp::{Params, Response, increase};

/// Windows of the table, and the share b(w) that a loss takes. The number of the row is a(w).
const TABLE: [(u32, f64); 73] = [
    (38, 0.50),
    (118, 0.44),
    (221, 0.41),
    (347, 0.38),
    (495, 0.37),
    (663, 0.35),
    (851, 0.34),
    (1_058, 0.33),
    (1_284, 0.32),
    (1_529, 0.31),
    (1_793, 0.30),
    (2_076, 0.29),
    (2_378, 0.28),
    (2_699, 0.28),
    (3_039, 0.27),
    (3_399, 0.27),
    (3_778, 0.26),
    (4_177, 0.26),
    (4_596, 0.25),
    (5_036, 0.25),
    (5_497, 0.24),
    (5_979, 0.24),
    (6_483, 0.23),
    (7_009, 0.23),
    (7_558, 0.22),
    (8_130, 0.22),
    (8_726, 0.22),
    (9_346, 0.21),
    (9_991, 0.21),
    (10_661, 0.21),
    (11_358, 0.20),
    (12_082, 0.20),
    (12_834, 0.20),
    (13_614, 0.19),
    (14_424, 0.19),
    (15_265, 0.19),
    (16_137, 0.19),
    (17_042, 0.18),
    (17_981, 0.18),
    (18_955, 0.18),
    (19_965, 0.17),
    (21_013, 0.17),
    (22_101, 0.17),
    (23_230, 0.17),
    (24_402, 0.16),
    (25_618, 0.16),
    (26_881, 0.16),
    (28_193, 0.16),
    (29_557, 0.15),
    (30_975, 0.15),
    (32_450, 0.15),
    (33_986, 0.15),
    (35_586, 0.14),
    (37_253, 0.14),
    (38_992, 0.14),
    (40_808, 0.14),
    (42_707, 0.13),
    (44_694, 0.13),
    (46_776, 0.13),
    (48_961, 0.13),
    (51_258, 0.13),
    (53_677, 0.12),
    (56_230, 0.12),
    (58_932, 0.12),
    (61_799, 0.12),
    (64_851, 0.11),
    (68_113, 0.11),
    (71_617, 0.11),
    (75_401, 0.10),
    (79_517, 0.10),
    (84_035, 0.10),
    (89_053, 0.10),
    (94_717, 0.09),
];

/// The RFC's program prints a row where a(w) has grown by more than one since the row before, with p(w)
/// rounded to 1 / (12.8 w^1.2).
#[test]
fn with_the_rfcs_rounded_loss_rate_the_table_is_exact() {
    let response = Response::new(&Params::default());
    let rounded = |w: u32| {
        let w = f64::from(w);
        increase(w, 1.0 / (12.8 * libm::pow(w, 1.2)), response.decrease(w))
    };
    let mut last = 1.0;
    for (row, &(w, _)) in TABLE.iter().enumerate().skip(1) {
        assert!(rounded(w - 1) <= last + 1.0 && rounded(w) > last + 1.0, "row {row}, window {w}");
        last = rounded(w);
        assert_eq!(last as usize, row + 1, "a({w})");
    }
}

/// With the exact p(w) that the law uses, a(w) is at most 5 % above the table.
#[test]
fn the_law_is_within_five_percent_of_the_table() {
    let response = Response::new(&Params::default());
    for (row, &(w, b)) in TABLE.iter().enumerate() {
        let w = f64::from(w);
        assert!((response.decrease(w) - b).abs() <= 0.005 + 1e-9, "b({w})");
        let ratio = response.increase(w) / (row + 1) as f64;
        assert!((1.0..1.05).contains(&ratio), "a({w}) is {ratio} of the table's");
    }
}
