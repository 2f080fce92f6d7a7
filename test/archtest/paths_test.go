package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// byPath are the functions that reach a file by its path, and follow what links
// are in it. The methods of safedir.Folder, which have the same names, do not.
var byPath = map[string]*regexp.Regexp{
	"os": regexp.MustCompile(
		`^(Open|OpenFile|OpenRoot|OpenInRoot|Create|CreateTemp|ReadFile|WriteFile|ReadDir|DirFS|CopyFS|Mkdir|MkdirAll|MkdirTemp|` +
			`Remove|RemoveAll|Rename|Link|Symlink|Readlink|Stat|Lstat|Truncate|Chmod|Chown|Lchown|Chtimes)$`),
	"path/filepath":                 regexp.MustCompile(`^(Walk|WalkDir|Glob|EvalSymlinks)$`),
	"io/ioutil":                     regexp.MustCompile(`.`),
	"github.com/google/renameio/v2": regexp.MustCompile(`^(WriteFile|NewPendingFile|TempFile|Symlink)$`),
	"syscall": regexp.MustCompile(
		`^(Open|Openat|Creat|Mkdir|Rename|Link|Symlink|Unlink|Rmdir|Truncate|Chmod|Stat|Lstat|Mkfifo|Mknod)$`),
	"golang.org/x/sys/unix": regexp.MustCompile(
		`^(Open|Openat|Openat2|Creat|Mkdir|Mkdirat|Rename|Renameat|Link|Linkat|Symlink|Unlink|Unlinkat|Rmdir|Truncate|Chmod|Stat|Lstat|Mkfifo|Mknod)$`),
}

// exemption is a file, or a folder of files, that reaches something by path
// which is not of an office: with these functions (of a folder: with any), and
// why that is right.
type exemption struct{ where, calls, why string }

// elsewhere are all of them. Nothing else may.
var elsewhere = []exemption{
	{"internal/lib/safedir/folder.go", "os.Lstat os.MkdirAll os.OpenRoot unix.Renameat",
		"opens the folder itself, and looks whether its path still leads there"},

	{"internal/lib/safedir/syncdisk_linux.go", "os.Open", "opens a folder to sync its disk, and reads nothing of it"},
	{"internal/lib/safedir/spelling.go", "os.Lstat os.ReadDir", "looks how a folder spells a name"},

	// Before there is an office, and around it.
	{"internal/office/paths.go", "filepath.EvalSymlinks os.Lstat os.Stat",
		"looks for an office at and above a folder of the operator's"},
	{"internal/office/home.go", "filepath.EvalSymlinks os.Lstat os.Stat",
		"finds the state folder in the operator's home, and moves it after its checkout"},
	{"internal/office/heartbeat.go", "os.ReadDir os.Stat", "looks which files a process has open"},
	{"internal/office/config/load.go", "os.OpenFile", "reads config files of the operator's and of checkouts"},
	{"internal/office/config/validate.go", "os.Stat", "looks at key files that the config names"},
	{"internal/gitops/gitindex/gitindex.go", "os.Lstat os.Stat",
		"looks for a .git at and above a folder, and whether two names are one file"},
	{"internal/office/config/trust.go", "os.MkdirAll os.OpenFile",
		"keeps the operator's list of what is trusted, in their home"},
	{"internal/office/config/checkouttrust.go", "filepath.EvalSymlinks", "names checkouts by their real folder"},
	{"internal/office/socket.go", "os.Chmod os.Lstat os.Mkdir os.Remove",
		"keeps the socket, in a folder of /tmp or of the session that is the operator's alone"},

	// The operator's checkout, keys and configuration.
	{"internal/gitops/source.go", "filepath.EvalSymlinks os.Lstat os.ReadFile os.Stat",
		"finds the repository of the operator's checkout"},
	{"internal/gitops/checkout.go", "os.Lstat os.Open os.Readlink os.Stat",
		"compares the operator's checkout with its index"},
	{"internal/container/dockerapi/daemonaddress.go", "os.ReadFile os.Stat",
		"reads the config and the contexts of the operator's Docker client, and looks for its sockets"},
	{"internal/gitops/clone.go", "os.Lstat os.MkdirTemp os.RemoveAll",
		"looks whether the operator named a folder, and makes one of the system's temporary files, for one look"},
	{"internal/gitops/credential.go", "os.Stat", "looks at the operator's key and agent"},
	{"internal/forge/login.go", "os.ReadFile os.Stat", "reads the logins of the operator's own tools"},
	{"internal/forge/github/login.go", "os.Stat", "looks for the operator's gh"},
	{"internal/gitops/access.go", "filepath.EvalSymlinks", "follows the links in the address of a remote that is a path"},
	{"internal/adapters/ollama/chat.go", "os.Stat", "looks for the key that Ollama itself keeps in the operator's home"},
	{"internal/adapters/scripted/", "", "reads a script that the config names"},
	{"internal/office/config/install.go", "os.CreateTemp os.Link os.Remove os.Rename",
		"writes the company.yaml of the operator's checkout"},
	{"internal/surface/officeaccess/config.go", "os.Lstat", "looks for the company.yaml of the operator's project"},
	{"internal/surface/cli/setup/init.go", "filepath.EvalSymlinks os.Lstat os.Stat",
		"looks for the checkout that gets a company.yaml"},
	{"internal/surface/officeaccess/checkout.go", "filepath.EvalSymlinks os.Lstat",
		"looks for the checkout that the operator names"},
	{"internal/surface/officeaccess/project.go", "os.Stat", "looks whether the operator names a folder"},
	{"internal/surface/diagnose/preflight.go", "os.Lstat", "looks for a file that the operator names"},

	// The user's cache, which no checkout reaches.
	{"internal/ecosystem/depproxy/", "",
		"keeps packages in the user's cache, and reads the settings of the operator's own clients"},
	{"internal/container/image/", "", "keeps layers in the user's cache, and reads the toolchains of this machine"},

	// The system.
	{"internal/gitops/gitexec/gitexec.go", "os.Stat", "looks for git"},
	{"internal/lib/hosttest/network.go", "os.Open", "opens a network of /proc, in a test"},
	{"internal/gitops/ownssh.go", "os.Stat", "looks for the president's own ssh keys, for doctor"},
	{"internal/gitops/gitlogin/netrc.go", "os.OpenFile", "reads the president's ~/.netrc"},
	{"internal/gitops/open_readonly.go", "os.Mkdir os.MkdirTemp os.RemoveAll",
		"makes a folder of the system's temporary files, for one look"},
	{"internal/gitops/doctor.go", "os.MkdirTemp os.RemoveAll",
		"makes a folder of the system's temporary files, for one look"},
	{"internal/surface/terminalio/terminal.go", "os.OpenFile", "opens the terminal of the session, where stdin is a pipe"},
	{"internal/surface/terminalio/instruction.go", "os.Open", "reads the instruction from a file that the operator names"},
	{"internal/office/attachment/attachment.go", "os.Lstat os.OpenFile",
		"reads the files that the operator attaches to an instruction"},
	{"internal/surface/terminalio/editor.go", "os.CreateTemp os.Open os.Remove",
		"has the person write an instruction in their editor, in a temporary file"},
	{"internal/container/memory.go", "os.ReadFile", "reads how much memory the machine has to spare"},
	{"internal/app/replay.go", "filepath.Glob os.Lstat os.MkdirAll os.MkdirTemp os.RemoveAll",
		"makes the folder of a replay among the system's temporary files, and removes those of replays that were killed"},
	{"internal/app/recordfile.go", "os.CreateTemp os.Link os.Lstat os.Open os.Remove",
		"writes and reads the record file that the operator names, and keeps its git objects among the system's temporary " +
			"files"},
	{"internal/api/peer.go", "os.Open", "reads the kernel's table of connections"},
	{"internal/app/setup.go", "os.Stat", "looks whether the program of this process was replaced"},
	{"internal/app/hostlimits.go", "os.ReadFile", "reads how much memory the machine has"},
	{"internal/surface/diagnose/officecheck.go", "os.Stat",
		"looks for the nearest folder that is there, for a doctor's word on it"},

	// Inside a container.
	{"internal/toolbox/toolserver/", "", "works inside a container, on the worker's own files"},

	// For tests.
	{"internal/api/apitest/apitest.go", "os.MkdirTemp os.RemoveAll", "the socket of a test"},
	{"internal/forge/forgetest/", "", "a forge for tests"},
	{"internal/agent/agenttest/", "", "golden prompts, in tests"},
	{"internal/surface/terminalio/terminaltest/", "", "pseudo terminals for tests"},
	{"internal/gitops/gitexec/gitexectest/", "", "makes hostile repositories for tests"},
	{"internal/gitops/gitopstest/", "", "repositories for tests"},
	{"internal/office/config/configtest/", "", "folders and repositories for tests"},
	{"internal/ecosystem/ecosystemtest/", "os.ReadFile", "reads the reports that a test brings"},
	{"internal/gitops/remotetest/", "", "servers for tests"},
}

// A checkout may bring links and repositories along in the places where an
// office keeps its files. So no file of an office is reached by its path: an
// office opens its folders once, and every read and write goes through a
// safedir.Folder.
func TestFilesOfAnOfficeAreReachedThroughItsFolders(t *testing.T) {
	dir := root(t)
	used := map[string]bool{}
	for _, p := range packages(t) {
		if !strings.HasPrefix(p.ImportPath, "company/internal/") && !strings.HasPrefix(p.ImportPath, "company/cmd/") {
			continue
		}
		for _, f := range p.GoFiles {
			file := filepath.Join(p.Dir, f)
			rel, err := filepath.Rel(dir, file)
			if err != nil {
				t.Fatal(err)
			}
			for _, call := range callsByPath(t, file) {
				by := call[strings.LastIndex(call, " ")+1:]
				e := exempt(filepath.ToSlash(rel), by)
				if e == nil {
					t.Errorf("%s: a file is reached by its path; files of an office are reached through its folders (folder.Folder)",
						call)
					continue
				}
				used[e.where+" "+by], used[e.where] = true, true
			}
		}
	}
	for _, e := range elsewhere {
		for by := range strings.FieldsSeq(e.calls) {
			if !used[e.where+" "+by] {
				t.Errorf("%s does not call %s any more: take it off the list", e.where, by)
			}
		}
		if !used[e.where] || e.why == "" {
			t.Errorf("%s reaches nothing by path any more, or does not say why: take it off the list", e.where)
		}
	}
}

// exempt is the exemption that a call in a file falls under, or nil.
func exempt(file, call string) *exemption {
	for i, e := range elsewhere {
		if file == e.where && slices.Contains(strings.Fields(e.calls), call) ||
			strings.HasSuffix(e.where, "/") && strings.HasPrefix(file, e.where) {
			return &elsewhere[i]
		}
	}
	return nil
}

// callsByPath are the places in a file where a path is followed.
func callsByPath(t *testing.T, file string) []string {
	t.Helper()
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]*regexp.Regexp{} // of the packages, as this file calls them
	for _, imp := range tree.Imports {
		path := strings.Trim(imp.Path.Value, `"`)
		re := byPath[path]
		if re == nil {
			continue
		}
		name := filepath.Base(strings.TrimSuffix(path, "/v2"))
		if imp.Name != nil {
			name = imp.Name.Name
		}
		if name == "." {
			t.Errorf("%s imports %s into its own names", file, path)
		}
		names[name] = re
	}
	var out []string
	ast.Inspect(tree, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		id, ok := sel.X.(*ast.Ident)
		if ok && names[id.Name] != nil && names[id.Name].MatchString(sel.Sel.Name) {
			out = append(out, set.Position(sel.Pos()).String()+": "+id.Name+"."+sel.Sel.Name)
		}
		return true
	})
	return out
}

// The rule finds what it is for.
func TestAFileReachedByPathIsFound(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.go")
	const text = `package x

import (
	"os"
	p "path/filepath"

	"github.com/google/renameio/v2"
)

func f(root *os.Root) {
	_ = os.WriteFile("a", nil, 0)
	read := os.ReadFile
	_, _ = read("a")
	_, _ = p.Glob("*")
	_ = renameio.WriteFile("a", nil, 0)
	_, _ = root.Open("a")
	_ = os.Getpid()
	_ = p.Join("a")
}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range callsByPath(t, file) {
		got = append(got, c[strings.LastIndex(c, " ")+1:])
	}
	if want := []string{"os.WriteFile", "os.ReadFile", "p.Glob", "renameio.WriteFile"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}
