//! How a kernel is launched to be timed, in words: those of `run`, or none for the launch that every kernel of ours has.

use warpwise_simt::isa::Program;

use super::subject::SubjectOptions;
use crate::arguments::parse_dim3;
use crate::backend::LaunchShape;
use crate::error::CommandError;
use crate::pressure::Launch;

/// A launch, where the kernel has none of its own or another is wanted.
#[derive(clap::Args, Clone, Debug)]
pub struct LaunchOptions {
    /// Blocks of the launch that is timed; else the kernel's own launch, or 4
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_dim3)]
    pub grid: Option<[u32; 3]>,
    /// Its dynamic shared memory, a block
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub shared: u32,
    /// An argument of it, in the kernel's order, as `run` takes them
    #[arg(long = "arg", value_name = "ARG")]
    pub args: Vec<String>,
}

/// Threads a block where nothing says how many.
pub const BLOCK: [u32; 3] = [256, 1, 1];

impl LaunchOptions {
    /// The kernel's launch.
    ///
    /// # Errors
    /// Words that are no argument, or not this kernel's.
    pub fn of(&self, program: &Program) -> Result<Launch, CommandError> {
        let standard = Launch::standard(&program.name)?;
        if let (Some(standard), None, true) = (&standard, self.grid, self.args.is_empty()) {
            return Ok(standard.clone());
        }
        let shape = standard.map(|standard| standard.shape);
        let block = program.required_threads.or(shape.map(|shape| shape.block)).unwrap_or(BLOCK);
        let words = SubjectOptions {
            subject: program.name.clone(),
            entry: None,
            grid: self.grid.or(shape.map(|shape| shape.grid)).unwrap_or([4, 1, 1]),
            block,
            shared: self.shared,
            args: self.args.clone(),
            regs: None,
        };
        let shape = LaunchShape::new(words.grid, block).with_dynamic_shared(self.shared);
        Ok(Launch::new(shape, words.arguments(program)?))
    }
}
