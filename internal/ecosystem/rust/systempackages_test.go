package rust

import (
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// A crate that binds a library has it in the image, and so has a build script of the
// project's own.
func TestSystemPackages(t *testing.T) {
	lock := func(names ...string) string {
		var text strings.Builder
		for _, n := range names {
			text.WriteString("[[package]]\nname = \"" + n +
				"\"\nversion = \"1.0.0\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\n")
		}
		return text.String()
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"named in the list",
			map[string]string{"Cargo.lock": lock("serde", "pcre2-sys", "pkg-config", "openssl-sys", "libsqlite3-sys")},
			"libpcre2-dev libsqlite3-dev libssl-dev pkg-config"},
		{"by the name alone", map[string]string{"Cargo.lock": lock("yaml-sys", "png-sys")}, "libpng-dev libyaml-dev"},
		{"tools of builds", map[string]string{"Cargo.lock": lock("bindgen", "prost-build", "cmake")},
			"cmake libclang-dev protobuf-compiler"},
		{"of other systems",
			map[string]string{"Cargo.lock": lock(
				"windows-sys", "js-sys", "core-foundation-sys", "linux-raw-sys", "no-such-sys")}, ""},
		{"a lock file in a folder",
			map[string]string{"tool/Cargo.lock": lock("alsa-sys"), "vendor/x/Cargo.lock": lock("zmq-sys")}, "libasound2-dev"},
		{"a build script",
			map[string]string{
				"build.rs": `fn main() { pkg_config::probe_library("libseccomp").unwrap(); println!("cargo:rustc-link-lib=dylib=z"); }`}, "libseccomp-dev pkg-config zlib1g-dev"},
		{"a build script of its own library",
			map[string]string{"build.rs": `println!("cargo:rustc-link-lib=static=my_own");`}, ""},
		{"an attribute", map[string]string{"build.rs": `#[link(name = "pcap")] extern "C" {}`}, "libpcap0.8-dev"},
	} {
		got, err := Ecosystem{}.Packages(&ecosystemtest.Sources{Texts: c.files, Toolchains: []string{"rust"}})
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q, %v", c.name, got, c.want, err)
		}
	}
}
