//! Arguments of a kernel as words: what `run --arg` takes, and the values that come back.
//!
//! An argument is `NAME=scalar:TYPE:VALUE` or `NAME=in|out|inout:TYPE:LEN[:INIT]`. The front end's parameter list says how many
//! there must be and how wide each is; values are bytes from here on.

pub mod bind;
mod element;
mod init;
mod npy;
mod parse;

pub use element::Element;
pub use init::Init;
pub use parse::{Argument, ArgumentError, Direction, parse_dim3};
