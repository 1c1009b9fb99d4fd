//! Cubins and listings that somebody has damaged: the SASS front end says what is wrong, or runs what is left; it never panics.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use warpwise::toolbox::{Target, Toolbox};
use warpwise_nvtools::nvdisasm::{Listing, ListingOptions};
use warpwise_simt::device;
use warpwise_simt::isa::Program;
use warpwise_simt::machine::{Launch, Machine};
use warpwise_simt::sass::{self, Code, Cubin};

const PTX: [&str; 2] = [include_str!("divergence/shapes.ptx"), include_str!("cplusplus/kernels.ptx")];
const EDITS_PER_KERNEL: usize = 300;
const CUBIN_EDITS: usize = 3000;
/// Letters that operands are made of.
const LETTERS: &[u8] = b"RURZPTB0123456789abcdefx.[]|-~!,+c @";

fn compiled(ptx: &str) -> (Vec<u8>, Listing) {
    let tools = Toolbox::open(None, &|line| eprintln!("{line}"));
    let compiled = tools.compile(ptx, &Target::arch("sm_90")).unwrap_or_else(|error| panic!("{error}"));
    let listing = tools.sass(ptx, "sm_90", ListingOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    (compiled.cubin.clone(), listing)
}

fn code(listing: &Listing, kernel: &str) -> Code {
    let function = listing.function(kernel).expect("its code");
    let instruction = |instruction: &warpwise_nvtools::nvdisasm::Instruction| sass::Instruction {
        address: instruction.address,
        predicate: instruction.predicate.clone(),
        opcode: instruction.opcode.clone(),
        operands: instruction.operands.clone(),
        encoding: instruction.encoding,
        control: Default::default(),
        source: Vec::new().into(),
    };
    Code {
        instructions: function.instructions.iter().map(instruction).collect(),
        labels: function.labels.iter().map(|label| (label.name.clone(), label.address)).collect(),
    }
}

/// One letter of a text becomes another, goes, or is doubled.
fn damage(text: &mut String, random: &mut ChaCha8Rng) {
    let mut letters: Vec<u8> = text.bytes().collect();
    let at = random.random_range(0..=letters.len());
    let letter = LETTERS[random.random_range(0..LETTERS.len())];
    match (random.random_range(0..3), letters.get_mut(at)) {
        (0, Some(place)) => *place = letter,
        (1, Some(_)) => drop(letters.remove(at)),
        _ => letters.insert(at, letter),
    }
    *text = letters.into_iter().map(char::from).collect();
}

fn edit(code: &mut Code, random: &mut ChaCha8Rng) {
    let count = code.instructions.len();
    let other = code.instructions[random.random_range(0..count)].clone();
    let instruction = &mut code.instructions[random.random_range(0..count)];
    match random.random_range(0..8) {
        0 => damage(&mut instruction.opcode, random),
        1 => instruction.opcode = other.opcode,
        2 => instruction.operands = other.operands,
        3 => instruction.predicate = other.predicate.or(Some("@P9".to_owned())),
        4 => instruction.encoding = random.random(),
        5 => drop(code.labels.pop()),
        6 => instruction.address = random.random(),
        _ => damage(&mut instruction.operands, random),
    }
}

/// Runs for a while; whatever it does, it ends.
fn run(program: &Program) {
    let mut machine = Machine::new(device::find("H200").expect("a device"));
    let bytes = 1 << 16;
    let memory = machine.alloc(bytes).expect("it fits");
    let module = machine.load(&[]).expect("nothing to load");
    let Ok(kernel) = machine.prepare(module, program) else { return };
    let size = program.params.iter().map(|param| param.offset + param.bytes).max().unwrap_or(0) as usize;
    let params: Vec<u8> = memory.to_le_bytes().into_iter().cycle().take(size).collect();
    let mut launch = Launch::new([1; 3], [64, 1, 1], params);
    launch.step_budget = Some(100_000);
    if let Ok(report) = machine.launch(&kernel, &launch) {
        std::hint::black_box(report.fault);
    }
}

#[test]
fn an_edited_listing_is_refused_or_runs() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let (mut refused, mut lowered) = (0, 0);
    for ptx in PTX {
        let (cubin, listing) = compiled(ptx);
        let cubin = Cubin::parse(&cubin).expect("a cubin");
        for entry in cubin.entries() {
            let sound = code(&listing, &entry.name);
            for _ in 0..EDITS_PER_KERNEL {
                let mut edited = sound.clone();
                (0..random.random_range(1..4)).for_each(|_| edit(&mut edited, &mut random));
                match sass::lower(entry, &edited) {
                    Ok(program) => {
                        lowered += 1;
                        run(&program);
                    }
                    Err(error) => {
                        refused += 1;
                        assert!(!error.to_string().is_empty());
                    }
                }
            }
        }
    }
    println!("{refused} listings refused, {lowered} run");
    assert!(refused > 1000 && lowered > 1000);
}

#[test]
fn an_edited_cubin_is_refused_or_read() {
    let mut random = ChaCha8Rng::seed_from_u64(8);
    let (mut refused, mut read) = (0, 0);
    for ptx in PTX {
        let (sound, listing) = compiled(ptx);
        for _ in 0..CUBIN_EDITS {
            let mut edited = sound.clone();
            match random.random_range(0..8) {
                0 => edited.truncate(random.random_range(0..edited.len())),
                _ => {
                    for _ in 0..random.random_range(1..20) {
                        let at = random.random_range(0..edited.len());
                        edited[at] = random.random();
                    }
                }
            }
            let Ok(cubin) = Cubin::parse(&edited) else {
                refused += 1;
                continue;
            };
            read += 1;
            for entry in cubin.entries().iter().filter(|entry| listing.function(&entry.name).is_some()).take(2) {
                if let Ok(program) = sass::lower(entry, &code(&listing, &entry.name)) {
                    std::hint::black_box(program.code.len());
                }
            }
        }
    }
    println!("{refused} cubins refused, {read} read");
    assert!(refused > 100 && read > 1000);
}
