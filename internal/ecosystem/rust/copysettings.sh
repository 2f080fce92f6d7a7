# Cargo finds the crates that lie in the image. Its own directory is the lowest
# place for settings, so a project's win.
cargo=${CARGO_HOME:-${HOME:-/home/agent}/.cargo}
if [ -f "$deps/cargo.toml" ] && [ ! -e "$cargo/config.toml" ]; then
	mkdir -p "$cargo" && cp "$deps/cargo.toml" "$cargo/config.toml"
fi
