//! Damaged texts: whatever becomes of them, it is a program or an error.

use warpwise_simt::device;
use warpwise_simt::machine::Machine;
use warpwise_simt::ptx::Module;

/// A module with every kind of statement and every group of instructions.
const EVERYTHING: &str = include_str!("everything.ptx");
/// What rustc makes of kernels, with its debug sections.
const FROM_RUSTC: &str = include_str!("../../src/rewrite/tests/recorded/raw.ptx");
/// Damaged texts of each kind. A hundred times as many were tried when this was written.
const MUTANTS: usize = 300;

/// A small generator of numbers (xorshift), so that a failure can be repeated.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

/// Parses and lowers everything; a program that comes out must be well formed for the executor. How many came out.
fn survive(text: &str) -> usize {
    let Ok(module) = Module::parse("mutant.ptx", text) else { return 0 };
    let mut machine = Machine::new(device::find("RTX 5070").expect("the default device"));
    let id = machine.load(module.variables());
    let entries: Vec<_> = module.entries().map(str::to_owned).collect();
    let programs = entries.iter().filter_map(|entry| module.lower(entry).ok());
    let checked = programs.inspect(|program| {
        let Ok(id) = id else { return };
        if let Err(error) = machine.prepare(id, program) {
            let said = error.to_string();
            assert!(!said.contains("an error of the front end"), "{said}\n{program}");
        }
    });
    checked.count()
}

/// Words, numbers and signs of a text, with what stands between them.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%' | b'.');
    text.as_bytes()
        .chunk_by(|a, b| is_word(*a) && is_word(*b))
        .scan(0, |at, chunk| {
            let start = *at;
            *at += chunk.len();
            text.get(start..*at)
        })
        .collect()
}

#[test]
fn the_undamaged_texts_are_lowered() {
    let module = Module::parse("everything.ptx", EVERYTHING).unwrap_or_else(|error| panic!("{error}"));
    let refused: Vec<_> = module.entries().filter(|entry| module.lower(entry).is_err()).collect();
    assert_eq!(refused, ["unsupported"]);
    assert!(survive(FROM_RUSTC) > 0);
}

#[test]
fn texts_with_other_bytes_are_survived() {
    let mut numbers = Numbers(0x5eed);
    let mut lowered = 0;
    for mutant in 0..MUTANTS {
        let mut bytes = if mutant % 4 == 0 { FROM_RUSTC } else { EVERYTHING }.as_bytes().to_vec();
        for _ in 0..=numbers.below(3) {
            let at = numbers.below(bytes.len());
            bytes[at] = match numbers.below(3) {
                0 => numbers.below(256) as u8,
                1 => bytes[at] ^ 1 << numbers.below(7),
                _ => b"{}[](),;:@!%.+-0123456789<>|=_\"/*"[numbers.below(33)],
            };
        }
        lowered += survive(&String::from_utf8_lossy(&bytes));
    }
    assert!(lowered > MUTANTS, "most damage hits one kernel of many");
}

#[test]
fn texts_that_end_early_are_survived() {
    let mut numbers = Numbers(0xcafe);
    for _ in 0..MUTANTS {
        survive(&EVERYTHING[..numbers.below(EVERYTHING.len())]);
    }
}

#[test]
fn texts_with_tokens_missing_doubled_or_exchanged_are_survived() {
    let tokens = tokens(EVERYTHING);
    let mut numbers = Numbers(0xbeef);
    for _ in 0..MUTANTS {
        let mut mutant = tokens.clone();
        for _ in 0..=numbers.below(3) {
            let (at, other) = (numbers.below(mutant.len()), numbers.below(mutant.len()));
            match numbers.below(4) {
                0 => _ = mutant.remove(at),
                1 => mutant.insert(at, mutant[other]),
                2 => mutant[at] = tokens[other],
                _ => mutant.swap(at, other),
            }
        }
        survive(&mutant.concat());
    }
}

#[test]
fn tokens_in_any_order_are_survived() {
    let tokens = tokens(EVERYTHING);
    let mut numbers = Numbers(0xf00d);
    for _ in 0..MUTANTS {
        let body: String = (0..numbers.below(60)).map(|_| tokens[numbers.below(tokens.len())]).collect();
        survive(&format!(".version 8.0 .target sm_80 .address_size 64 .entry k() {{ .reg .b32 %r<9>; {body} ret; }}"));
        survive(&format!(".version 8.0 {body}"));
    }
}
