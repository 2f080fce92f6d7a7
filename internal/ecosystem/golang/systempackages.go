package golang

import (
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/ecosystem/cc"
	"company/internal/lib/lazyregexp"
)

// Limits of a search for directives of cgo.
const (
	maxSearchedFiles = 50_000
	filesAtOnce      = 500
	maxModuleFiles   = 50 // go.mod files
)

// cgoModule is a module that contains C code.
type cgoModule struct {
	path     string
	packages []string // Debian packages that it needs in addition to the compiler
	// optional means that most of the module works without C, so it does not require a compiler.
	optional bool
}

// cgoModules lists well-known modules with C code. Their sources are not available when the image is planned.
var cgoModules = []cgoModule{
	{path: "fyne.io/fyne", packages: []string{"libgl-dev", "xorg-dev"}},
	{path: "github.com/ceph/go-ceph", packages: []string{"libcephfs-dev", "librados-dev", "librbd-dev"}},
	{path: "github.com/confluentinc/confluent-kafka-go"},
	{path: "github.com/containerd/btrfs", packages: []string{"libbtrfs-dev"}},
	{path: "github.com/containers/image", packages: []string{"libbtrfs-dev", "libgpgme-dev"}, optional: true},
	{path: "github.com/containers/storage", packages: []string{"libbtrfs-dev"}, optional: true},
	{path: "github.com/coreos/go-systemd", packages: []string{"libsystemd-dev"}, optional: true},
	{path: "github.com/davidbyttow/govips", packages: []string{"libvips-dev"}},
	{path: "github.com/diamondburned/gotk4/pkg", packages: []string{"libgtk-4-dev"}},
	{path: "github.com/ebitengine/oto", packages: []string{"libasound2-dev"}},
	{path: "github.com/go-gl/gl", packages: []string{"libgl-dev"}},
	{path: "github.com/go-gl/glfw", packages: []string{"libgl-dev", "libwayland-dev", "libxkbcommon-dev", "xorg-dev"}},
	{path: "github.com/google/gopacket", packages: []string{"libpcap-dev"}},
	{path: "github.com/gopacket/gopacket", packages: []string{"libpcap-dev"}},
	{path: "github.com/gordonklaus/portaudio", packages: []string{"portaudio19-dev"}},
	{path: "github.com/gotk3/gotk3", packages: []string{"libgtk-3-dev"}},
	{path: "github.com/hajimehoshi/ebiten", packages: []string{"libasound2-dev", "libgl-dev", "xorg-dev"}},
	{path: "github.com/hajimehoshi/oto", packages: []string{"libasound2-dev"}},
	{path: "github.com/jochenvg/go-udev", packages: []string{"libudev-dev"}},
	{path: "github.com/linxGnu/grocksdb", packages: []string{"librocksdb-dev"}},
	{path: "github.com/lxc/go-lxc", packages: []string{"lxc-dev"}},
	{path: "github.com/marcboeker/go-duckdb"},
	{path: "github.com/mattn/go-sqlite3"},
	{path: "github.com/msteinert/pam", packages: []string{"libpam0g-dev"}},
	{path: "github.com/otiai10/gosseract", packages: []string{"libleptonica-dev", "libtesseract-dev"}},
	{path: "github.com/pebbe/zmq4", packages: []string{"libzmq3-dev"}},
	{path: "github.com/proglottis/gpgme", packages: []string{"libgpgme-dev"}},
	{path: "github.com/seccomp/libseccomp-golang", packages: []string{"libseccomp-dev"}},
	{path: "github.com/smacker/go-tree-sitter"},
	{path: "github.com/tecbot/gorocksdb", packages: []string{"librocksdb-dev"}},
	{path: "github.com/tree-sitter/go-tree-sitter"},
	{path: "github.com/veandco/go-sdl2",
		packages: []string{"libsdl2-dev", "libsdl2-image-dev", "libsdl2-mixer-dev", "libsdl2-ttf-dev"}},
	{path: "github.com/webview/webview_go", packages: []string{"libgtk-3-dev", "libwebkit2gtk-4.0-dev"}},
	{path: "golang.design/x/clipboard", packages: []string{"libx11-dev"}},
	{path: "gopkg.in/gographics/imagick.v3", packages: []string{"libmagickwand-dev"}},
	{path: "gorm.io/driver/sqlite"},
	{path: "libvirt.org/go/libvirt", packages: []string{"libvirt-dev"}},
	{path: "libvirt.org/libvirt-go", packages: []string{"libvirt-dev"}},
}

// versionSuffix matches the end of module paths for later major versions.
var versionSuffix = lazyregexp.New(`^/v[0-9]{1,3}(?:\.[0-9]{1,3})?(?:/|$)`)

// findCgoModule returns the listed module with a path, in any major version. It returns the zero value if there is
// none.
func findCgoModule(module string) cgoModule {
	for _, m := range cgoModules {
		if rest, ok := strings.CutPrefix(module, m.path); ok && (rest == "" || versionSuffix.MatchString(rest)) {
			return m
		}
	}
	return cgoModule{}
}

// requireRE finds a module that a go.mod requires, and the rest of its line.
var requireRE = lazyregexp.New(`(?m)^\s*(?:require\s+)?([a-z0-9][A-Za-z0-9_.~/-]{2,200})[ \t]+v[0-9]\S*[ \t]*(.*)$`)

// listDirect lists the direct requirements of a go.mod.
func listDirect(text string) (out []string) {
	for _, m := range requireRE.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(m[2], "indirect") {
			out = append(out, m[1])
		}
	}
	return out
}

// readDirect reads the modules that the go.mod files of a tree require.
func readDirect(tree *ecosystem.Tree) (out []string) {
	dirs := tree.FoldersWith("go.mod")
	for _, dir := range dirs[:min(len(dirs), maxModuleFiles)] {
		out = append(out, listDirect(tree.ReadManifest(dir, "go.mod"))...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// needsCgoModule reports whether a module of the tree requires a module that is useless without a C compiler.
func needsCgoModule(t *ecosystem.Tree) bool {
	return slices.ContainsFunc(readDirect(t), func(module string) bool {
		m := findCgoModule(module)
		return m.path != "" && !m.optional
	})
}

// Packages returns the Debian packages of the libraries in cgo directives, in the tree's own and vendored Go files.
// It adds those of well-known modules.
func (e Ecosystem) Packages(sources ecosystem.Sources) ([]string, error) {
	if !sources.HasToolchain(cgo) {
		return nil, nil
	}
	tree := ecosystem.TreeOf(sources)
	asks := &cc.Asks{}
	for _, module := range readDirect(tree) {
		if packages := findCgoModule(module).packages; len(packages) > 0 {
			asks.AddPackages("pkg-config")
			asks.AddPackages(packages...)
		}
	}
	files := slices.DeleteFunc(goFiles(tree), func(f ecosystem.File) bool { return isOtherSystem(f.Path) })
	slices.SortFunc(files, func(a, b ecosystem.File) int { return ecosystem.CompareDepth(a.Path, b.Path) })
	files = files[:min(len(files), maxSearchedFiles)]
	for some := range slices.Chunk(files, filesAtOnce) {
		tree.ReadTexts(some, func(_ ecosystem.File, text []byte) {
			if len(text) <= ecosystem.MaxManifest && importCRE.Match(text) {
				askPreamble(asks, string(text))
			}
		})
	}
	return asks.List(sources.AddNote), tree.Err()
}

// otherSystemRE matches file names for other systems.
var otherSystemRE = lazyregexp.New(
	`_(?:windows|darwin|freebsd|netbsd|openbsd|dragonfly|solaris|illumos|aix|android|ios|js|plan9|wasip1)(?:_[a-z0-9]+)?(?:_test)?\.go$`)

func isOtherSystem(file string) bool { return otherSystemRE.MatchString(path.Base(file)) }

var (
	// cgoLine matches a cgo directive with its conditions, kind and arguments.
	cgoLine = lazyregexp.New(`(?m)^[ \t/*]*#cgo[ \t]+([^:\n]*?)(LDFLAGS|pkg-config)[ \t]*:[ \t]*([^\n]+)$`)
	// preambleRE matches the comment before import "C".
	preambleRE = lazyregexp.New(`(?s)(/\*.*?\*/|(?:(?:^|\n)//[^\n]*)+)\s*import[ \t]+"C"`)
	buildLine  = lazyregexp.New(`(?m)^//go:build[ \t]+(.+)$`)
	systemRE   = lazyregexp.New(`\b(?:windows|darwin|freebsd|netbsd|openbsd|solaris|android|ios|js|wasm)\b`)
)

// isForOther reports whether build conditions hold only on other systems: they name one and do not name Linux.
func isForOther(conditions string) bool {
	for _, m := range systemRE.FindAllStringIndex(conditions, -1) {
		if m[0] == 0 || conditions[m[0]-1] != '!' {
			return !strings.Contains(conditions, "linux")
		}
	}
	return strings.Contains(conditions, "!linux")
}

// askPreamble adds the libraries and headers that a Go file with import "C" needs.
func askPreamble(asks *cc.Asks, text string) {
	if m := buildLine.FindStringSubmatch(text); m != nil && isForOther(m[1]) {
		return
	}
	for _, m := range cgoLine.FindAllStringSubmatch(text, -1) {
		switch {
		case isForOther(m[1]):
		case m[2] == "LDFLAGS":
			asks.AddFlags(m[3])
		default:
			for word := range strings.FieldsSeq(m[3]) {
				if !strings.HasPrefix(word, "-") {
					asks.AddPkgConfig(word)
				}
			}
		}
	}
	for _, m := range preambleRE.FindAllStringSubmatch(text, -1) {
		asks.AddIncludes(m[1])
	}
}
