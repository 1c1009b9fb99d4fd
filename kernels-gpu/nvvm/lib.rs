//! Empty: the build script does the work.
