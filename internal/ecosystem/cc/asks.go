package cc

import (
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// maxAsked limits the names that are looked up for one ecosystem of a project.
const maxAsked = 2000

// Asks collects the libraries that sources in other ecosystems need. Such sources are cgo directives, build scripts
// of Rust and setup scripts of Python. The names come from the repository, but packages come only from the tables of
// this package.
type Asks struct {
	wishes wishes
	seen   map[string]bool
	// IsOwn reports whether the project builds a library itself. A nil IsOwn means that it builds none.
	IsOwn func(library string) bool
}

// isNew reports whether a name was not asked for before, within the limit.
func (a *Asks) isNew(key string) bool {
	if a.seen == nil {
		a.seen = map[string]bool{}
	}
	if a.seen[key] || len(a.seen) == maxAsked {
		return false
	}
	a.seen[key] = true
	return true
}

// addName adds a name of a kind. It ignores a name that is not in the table, because it may belong to another system.
func (a *Asks) addName(kind, name string) {
	if !a.isNew(kind + name) {
		return
	}
	_, known := packagesOf(kind, name)
	if known && (kind != linkerName || a.IsOwn == nil || !a.IsOwn(name)) {
		a.wishes.add(kind, name, false)
	}
}

// AddPkgConfig adds a module of pkg-config, and pkg-config itself.
func (a *Asks) AddPkgConfig(name string) {
	a.addTool()
	a.addName(pkgConfigName, name)
}

// AddLinked adds a library by its name for the linker: z for -lz.
func (a *Asks) AddLinked(name string) { a.addName(linkerName, name) }

// AddFlags adds the libraries in flags for a linker: -lz -L/opt/x -lcurl.
func (a *Asks) AddFlags(flags string) {
	for _, m := range linkFlag.FindAllStringSubmatch(flags, -1) {
		a.AddLinked(m[1])
	}
}

// AddCalls adds the modules in calls of pkg-config.
func (a *Asks) AddCalls(text string) {
	for _, m := range pkgConfigCall.FindAllStringSubmatch(text, -1) {
		for word := range strings.FieldsSeq(m[1]) {
			if !strings.HasPrefix(word, "-") {
				a.AddPkgConfig(word)
			}
		}
		a.addTool() // all modules may be in variables
	}
}

// addTool adds pkg-config itself.
func (a *Asks) addTool() { a.AddPackages("pkg-config") }

// includeRE finds the headers that a file of C includes from the system.
var includeRE = lazyregexp.New(`(?m)^[\s/*]*#\s*include\s*<([A-Za-z0-9_.+/-]{1,80})>`)

// headerPackages maps headers to packages for libraries that programs do not link by the library's name. Such a
// library is loaded at run time, or its flags come from elsewhere.
var headerPackages = []struct{ prefix, pkg string }{
	{"CL/", "opencl-headers"}, {"EGL/", "libegl-dev"}, {"GL/glut", "freeglut3-dev"}, {"GL/", "libgl-dev"},
	{"GLES2/", "libgles-dev"}, {"GLES3/", "libgles-dev"},
	{"X11/", "libx11-dev"}, {"alsa/", "libasound2-dev"}, {"btrfs/", "libbtrfs-dev"}, {"libudev.h", "libudev-dev"},
	{"openssl/", "libssl-dev"}, {"pcap.h", "libpcap-dev"}, {"pcap/", "libpcap-dev"},
	{"pulse/", "libpulse-dev"}, {"sasl/", "libsasl2-dev"}, {"security/pam", "libpam0g-dev"},
	{"selinux/", "libselinux1-dev"}, {"sys/acl.h", "libacl1-dev"}, {"sys/capability.h", "libcap-dev"},
	{"systemd/", "libsystemd-dev"}, {"va/", "libva-dev"}, {"vulkan/", "libvulkan-dev"},
}

// AddIncludes adds the packages of system headers that a text of C includes.
func (a *Asks) AddIncludes(text string) {
	for _, m := range includeRE.FindAllStringSubmatch(text, -1) {
		for _, h := range headerPackages {
			if strings.HasPrefix(m[1], h.prefix) {
				a.AddPackages(h.pkg)
				break
			}
		}
	}
}

// AddPackages adds Debian packages from an ecosystem's own list.
func (a *Asks) AddPackages(names ...string) {
	for _, name := range names {
		if a.isNew("package " + name) {
			a.wishes.addPackage(name)
		}
	}
}

// List returns the packages, sorted. It adds notes for packages that are left out.
func (a *Asks) List(note func(format string, args ...any)) []string {
	return a.wishes.listPackages(note)
}

// DropRivals returns names without those that Debian cannot install beside an earlier
// one. It calls dropped with both names of each pair.
func DropRivals(names []string, dropped func(kept, name string)) (out []string) {
	for _, name := range names {
		if i := slices.IndexFunc(out, func(had string) bool { return areRivals(had, name) }); i >= 0 {
			dropped(out[i], name)
			continue
		}
		out = append(out, name)
	}
	return out
}

// AskMeson adds the libraries in the meson.build files of a folder, because Meson may build extensions of Python.
func AskMeson(a *Asks, t *ecosystem.Tree, dir string) {
	a.wishes.all = append(a.wishes.all, readMeson(t, dir).listWishes().all...)
}
