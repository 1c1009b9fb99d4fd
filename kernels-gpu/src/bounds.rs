//! Launch bounds and register caps of the kernels that have any, in one table.
//!
//! rustc has no attribute for them. The device build leaves the table in its PTX, as the text of a variable; when the PTX is finished, the
//! rows go into the entries' headers (`.maxntid`, `.minnctapersm`, `.maxnreg`), where ptxas, the driver's JIT and the machine all find
//! them. So bounds are of the sources that the PTX was compiled from, of whichever commit.

/// What a kernel's entry promises and asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The entry's name.
    pub entry: &'static str,
    /// `.maxntid`: the largest block that will be launched, threads along x, y and z.
    pub max_threads: Option<[u32; 3]>,
    /// `.minnctapersm`: blocks that must fit on an SM at once. Needs `max_threads`.
    pub min_blocks_per_sm: Option<u32>,
    /// `.maxnreg`: registers a thread at most.
    pub max_registers: Option<u32>,
}

/// The table, by entry. A kernel that is not in it has no bounds.
pub static BOUNDS: &[Bounds] = ROWS;

const ROWS: &[Bounds] = &[
    Bounds {
        // Six blocks of 256 threads are the 48 warps of an SM of compute capability 12.0, and leave 65,536 / 1,536 = 42
        // registers a thread, of which allocation in steps of 8 permits 40.
        entry: "heavy_capped",
        max_threads: Some([256, 1, 1]),
        min_blocks_per_sm: Some(6),
        max_registers: None,
    },
    Bounds { entry: "accumulators_capped", max_threads: None, min_blocks_per_sm: None, max_registers: Some(40) },
    // Blocks of 1,024 threads have at most 64 registers each; without this the compiler may take more.
    Bounds { entry: "matmul_tiled", max_threads: Some([32, 32, 1]), min_blocks_per_sm: None, max_registers: None },
    Bounds {
        // 64 sums, two sets of operands and what is on its way are some 120 registers; two blocks fit with 128.
        entry: "matmul_register",
        max_threads: Some([256, 1, 1]),
        min_blocks_per_sm: Some(2),
        max_registers: None,
    },
];

/// The bounds of an entry, if it has any.
pub fn of(entry: &str) -> Option<&'static Bounds> {
    BOUNDS.iter().find(|bounds| bounds.entry == entry)
}

/// The table as text, a line an entry, for whoever finishes the PTX: `heavy_capped .maxntid 256,1,1 .minnctapersm 6`.
#[cfg_attr(target_arch = "nvptx64", unsafe(no_mangle), used)]
pub static WARPWISE_LAUNCH_BOUNDS: [u8; text::<0>().length] = text().bytes;

/// As many bytes of a text as there is room for, and how many it has.
struct Text<const ROOM: usize> {
    bytes: [u8; ROOM],
    length: usize,
}

const fn text<const ROOM: usize>() -> Text<ROOM> {
    let mut text = Text { bytes: [0; ROOM], length: 0 };
    let mut index = 0;
    while index < ROWS.len() {
        let row = &ROWS[index];
        text.word(row.entry);
        if let Some([x, y, z]) = row.max_threads {
            text.word(" .maxntid ");
            text.number(x);
            text.word(",");
            text.number(y);
            text.word(",");
            text.number(z);
        }
        if let Some(blocks) = row.min_blocks_per_sm {
            text.word(" .minnctapersm ");
            text.number(blocks);
        }
        if let Some(registers) = row.max_registers {
            text.word(" .maxnreg ");
            text.number(registers);
        }
        text.word("\n");
        index += 1;
    }
    text
}

impl<const ROOM: usize> Text<ROOM> {
    const fn byte(&mut self, byte: u8) {
        if self.length < ROOM {
            self.bytes[self.length] = byte;
        }
        self.length += 1;
    }

    const fn word(&mut self, word: &str) {
        let mut index = 0;
        while index < word.len() {
            self.byte(word.as_bytes()[index]);
            index += 1;
        }
    }

    const fn number(&mut self, number: u32) {
        if number >= 10 {
            self.number(number / 10);
        }
        self.byte(b'0' + (number % 10) as u8);
    }
}
