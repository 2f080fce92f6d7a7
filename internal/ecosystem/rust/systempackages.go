package rust

import (
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/ecosystem/cc"
	"company/internal/lib/boundedparse/toml"
	"company/internal/lib/lazyregexp"
)

// cratePackages maps the name of a crate to the Debian packages that its build needs.
var cratePackages = map[string][]string{
	"alsa-sys":      {"libasound2-dev"},
	"autocxx-build": {"g++"},
	"bindgen":       {"libclang-dev"},
	"bzip2-sys":     {"libbz2-dev"},
	"cairo-sys-rs":  {"libcairo2-dev"},
	"clang-sys":     {"libclang-dev"},
	"cmake":         {"cmake"},
	"curl-sys":      {"libcurl4-openssl-dev"},
	"cxx-build":     {"g++"},
	"dbus":          {"libdbus-1-dev"},
	"expat-sys":     {"libexpat1-dev"},
	"ffmpeg-sys-next": {"libavcodec-dev", "libavdevice-dev", "libavfilter-dev", "libavformat-dev", "libavutil-dev",
		"libswresample-dev", "libswscale-dev"},
	"fontconfig-sys":        {"libfontconfig-dev"},
	"freetype-sys":          {"libfreetype-dev"},
	"fuser":                 {"libfuse3-dev"},
	"gdk-pixbuf-sys":        {"libgdk-pixbuf-2.0-dev"},
	"gdk-sys":               {"libgtk-3-dev"},
	"gdk4-sys":              {"libgtk-4-dev"},
	"gio-sys":               {"libglib2.0-dev"},
	"glib-sys":              {"libglib2.0-dev"},
	"gobject-sys":           {"libglib2.0-dev"},
	"gpgme-sys":             {"libgpgme-dev"},
	"graphene-sys":          {"libgraphene-1.0-dev"},
	"gsk4-sys":              {"libgtk-4-dev"},
	"gstreamer-app-sys":     {"libgstreamer-plugins-base1.0-dev"},
	"gstreamer-audio-sys":   {"libgstreamer-plugins-base1.0-dev"},
	"gstreamer-base-sys":    {"libgstreamer1.0-dev"},
	"gstreamer-sys":         {"libgstreamer1.0-dev"},
	"gstreamer-video-sys":   {"libgstreamer-plugins-base1.0-dev"},
	"gtk-sys":               {"libgtk-3-dev"},
	"gtk4-sys":              {"libgtk-4-dev"},
	"hidapi":                {"libudev-dev"},
	"javascriptcore-rs-sys": {"libjavascriptcoregtk-4.0-dev"},
	"jemalloc-sys":          {"make"},
	"libadwaita-sys":        {"libadwaita-1-dev"},
	"libappindicator-sys":   {"libayatana-appindicator3-dev"},
	"libdbus-sys":           {"libdbus-1-dev"},
	"libduckdb-sys":         {"g++"},
	"libgit2-sys":           {"libgit2-dev"},
	"libmagic-sys":          {"libmagic-dev"},
	"libpulse-sys":          {"libpulse-dev"},
	"librocksdb-sys":        {"g++"},
	"libseccomp-sys":        {"libseccomp-dev"},
	"libsodium-sys":         {"libsodium-dev"},
	"libsqlite3-sys":        {"libsqlite3-dev"},
	"libssh2-sys":           {"libssh2-1-dev"},
	"libsystemd-sys":        {"libsystemd-dev"},
	"libudev-sys":           {"libudev-dev"},
	"libusb1-sys":           {"libusb-1.0-0-dev"},
	"libxml":                {"libxml2-dev"},
	"libz-sys":              {"zlib1g-dev"},
	"link-cplusplus":        {"g++"},
	"lz4-sys":               {"liblz4-dev"},
	"lzma-sys":              {"liblzma-dev"},
	"mysqlclient-sys":       {"default-libmysqlclient-dev"},
	"nasm-rs":               {"nasm"},
	"nettle-sys":            {"nettle-dev"},
	"odbc-sys":              {"unixodbc-dev"},
	"onig_sys":              {"libonig-dev"},
	"openssl-src":           {"make", "perl"},
	"openssl-sys":           {"libssl-dev"},
	"pam-sys":               {"libpam0g-dev"},
	"pango-sys":             {"libpango1.0-dev"},
	"pangocairo-sys":        {"libpango1.0-dev"},
	"pcap":                  {"libpcap-dev"},
	"pcre2-sys":             {"libpcre2-dev"},
	"pkg-config":            {"pkg-config"},
	"pq-sys":                {"libpq-dev"},
	"prost-build":           {"protobuf-compiler"},
	"protobuf-codegen":      {"protobuf-compiler"},
	"protoc-grpcio":         {"protobuf-compiler"},
	"rdkafka-sys":           {"libssl-dev", "make", "zlib1g-dev"},
	"readline-sys":          {"libreadline-dev"},
	"sdl2-sys":              {"libsdl2-dev"},
	"selinux-sys":           {"libclang-dev", "libselinux1-dev"},
	"servo-fontconfig-sys":  {"libfontconfig-dev"},
	"snappy_src":            {"g++"},
	"soup2-sys":             {"libsoup2.4-dev"},
	"soup3-sys":             {"libsoup-3.0-dev"},
	"system-deps":           {"pkg-config"},
	"tikv-jemalloc-sys":     {"make"},
	"tonic-build":           {"protobuf-compiler"},
	"tss-esapi-sys":         {"libtss2-dev"},
	"udev":                  {"libudev-dev"},
	"unixodbc-sys":          {"unixodbc-dev"},
	"wayland-sys":           {"libwayland-dev"},
	"webkit2gtk-sys":        {"libwebkit2gtk-4.0-dev"},
	"x11":                   {"libx11-dev"},
	"xcb":                   {"libxcb1-dev"},
	"zmq-sys":               {"libzmq3-dev"},
	"zstd-sys":              {"libzstd-dev"},
}

// noLibraryCrates lists crates whose names end in sys and that need no system library. They are named after
// the kernel, another platform or their own source.
var noLibraryCrates = []string{
	"backtrace-sys", "core-foundation-sys", "dirs-sys", "fsevent-sys", "inotify-sys", "jni-sys", "js-sys", "kqueue-sys",
	"linux-raw-sys", "ndk-sys", "security-framework-sys", "system-configuration-sys", "web-sys", "windows-sys",
}

// maxBuildScripts limits the build scripts that are read.
const maxBuildScripts = 200

var (
	probeRE = lazyregexp.New(`\b(?:probe_library|probe)\s*\(\s*"([A-Za-z0-9_.+-]{1,60})"`)
	linkRE  = lazyregexp.New(`\brustc-link-lib=(?:(?:dylib|static)(?::[^=]*)?=)?([A-Za-z0-9_.+-]{1,60})`)
	// attributeRE matches the name of a library in a link attribute.
	attributeRE = lazyregexp.New(`#\s*\[\s*link\s*\([^)\]]*\bname\s*=\s*"([A-Za-z0-9_.+-]{1,60})"`)
	sysCrateRE  = lazyregexp.New(`^([a-z0-9][a-z0-9_-]*?)[-_]sys$`)
)

// Packages returns the Debian packages that the crates of the lock files and the
// project's own build scripts need.
func (e Ecosystem) Packages(sources ecosystem.Sources) ([]string, error) {
	tree := ecosystem.TreeOf(sources)
	asks := &cc.Asks{}
	locks := tree.FoldersWith(lockFile)
	for _, dir := range locks[:min(len(locks), ecosystem.MaxProjects)] {
		for _, name := range listCrates(tree.ReadManifest(dir, lockFile)) {
			askCrate(asks, name)
		}
	}
	var scripts []ecosystem.File
	for p, file := range tree.Files {
		dir, name := ecosystem.SplitPath(p)
		if (name == "build.rs" || path.Base(dir) == "build" && strings.HasSuffix(name, ".rs")) &&
			!ecosystem.IsForeignDir(strings.TrimSuffix(strings.TrimSuffix(dir, "build"), "/")) {
			scripts = append(scripts, file)
		}
	}
	slices.SortFunc(scripts, func(a, b ecosystem.File) int { return ecosystem.CompareDepth(a.Path, b.Path) })
	tree.ReadTexts(scripts[:min(len(scripts), maxBuildScripts)], func(_ ecosystem.File, text []byte) {
		if len(text) <= ecosystem.MaxManifest {
			askScript(asks, string(text))
		}
	})
	return asks.List(sources.AddNote), tree.Err()
}

// listCrates lists the names of all crates of a lock file. It returns nil for an invalid file, since cargo
// reports the error.
func listCrates(text string) (out []string) {
	var lock struct{ Package []struct{ Name string } }
	if toml.Decode([]byte(text), &lock) != nil {
		return nil
	}
	for _, p := range lock.Package {
		out = append(out, p.Name)
	}
	return out
}

// askCrate adds the packages that a crate needs. An unknown crate foo-sys needs the library foo.
func askCrate(asks *cc.Asks, name string) {
	if packages, known := cratePackages[name]; known {
		asks.AddPackages(packages...)
		return
	}
	if m := sysCrateRE.FindStringSubmatch(name); m != nil && !slices.Contains(noLibraryCrates, name) {
		asks.AddLinked(strings.TrimPrefix(m[1], "lib"))
	}
}

// askScript adds the libraries that a build script of the project probes for or links.
func askScript(asks *cc.Asks, text string) {
	for _, m := range probeRE.FindAllStringSubmatch(text, -1) {
		asks.AddPkgConfig(m[1])
	}
	for _, re := range []*lazyregexp.Regexp{linkRE, attributeRE} {
		for _, m := range re.FindAllStringSubmatch(text, -1) {
			asks.AddLinked(m[1])
		}
	}
}
