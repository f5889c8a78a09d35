//! The fuzzer of [`knee_fuzz::packets`].
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| knee_fuzz::packets(input));
