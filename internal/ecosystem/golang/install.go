package golang

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
)

// Installs are the modules that the lock files of the base commit name, those and
// the base tree compiled, and on top of that the modules of the task's own lock
// files, where these differ: compiled packages stay valid where nothing changed.
func (Ecosystem) Installs(s ecosystem.Sources) ([]ecosystem.Install, error) {
	base, err := readModules(s.Base())
	if err != nil {
		return nil, err
	}
	base.isBase = true
	var out []ecosystem.Install
	if len(base.download) > 0 {
		in := base.fetched()
		in.Own = true
		out = append(out, in)
	}
	if base.needsCompiledLayer() {
		out = append(out, base.compiled())
	}
	if s.Base() == s {
		return out, nil
	}
	changed, err := readModules(s)
	if err != nil {
		return nil, err
	}
	if len(changed.download) > 0 && !slices.Equal(changed.inputs, base.inputs) {
		in := changed.fetched()
		in.Why += ", as they were changed"
		out = append(out, in)
	}
	return out, nil
}

// manyFiles is how many Go files compile for longer than their layer costs. Of a module of
// 10,000 lines in 100 files the layer takes 4 s to make, and each run of all tests is 1 s
// quicker for it; of 100,000 lines these are 22 s and 8 s (two processors).
const manyFiles = 100

// needsCompiledLayer reports whether compiling the tree anew costs more than its layer: it uses
// other modules or C, or has many files.
func (m *modules) needsCompiledLayer() bool {
	return m.vendored || len(m.download) > 0 || len(m.dirs) > 0 && (m.goFiles >= manyFiles || m.s.HasToolchain(cgo))
}

// modules is what the lock files of a tree say.
type modules struct {
	s        ecosystem.Sources
	locks    []string // all, sorted
	inputs   []string // their names and contents
	dirs     []string // directories with a go.mod, "." first
	download []string // those of them whose modules come from a registry
	vendored bool     // some module carries its dependencies along
	works    []workspace
	goFiles  int // which the go command looks at
	// isBase: they are the base commit's, and not what a task has made of them.
	isBase bool
	// lacks says what could not be downloaded, once that was tried.
	lacks []string
}

// readModules reads the names of the lock files, and the text of those go.mod files
// that could need a download.
func readModules(s ecosystem.Sources) (*modules, error) {
	m := &modules{s: s}
	vendor := map[string]bool{}
	for _, name := range s.Files() {
		dir, base := path.Dir(name), path.Base(name)
		isVendor := base == "modules.txt" && path.Base(dir) == "vendor"
		if path.Ext(base) == ".go" && !isIgnored(dir) {
			m.goFiles++
		}
		switch {
		case isVendor:
			vendor[path.Dir(dir)] = true
		case !slices.Contains([]string{"go.mod", "go.sum", "go.work", "go.work.sum"}, base) || !ecosystem.IsPlainPath(dir):
			continue
		case base == "go.mod" && !isIgnored(dir):
			m.dirs = append(m.dirs, dir)
		case base != "go.mod" && isIgnored(dir):
			continue
		}
		// A replace directive may lead into a folder that the go command does
		// not look into by itself: its go.mod has to be there.
		m.inputs = append(m.inputs, name, s.FileID(name))
		if !isVendor {
			m.locks = append(m.locks, name)
		}
	}
	slices.Sort(m.dirs)
	if i := slices.Index(m.dirs, "."); i > 0 {
		m.dirs = slices.Insert(slices.Delete(m.dirs, i, i+1), 0, ".")
	}
	m.dirs = ecosystem.LimitProjects(s, m.dirs, "Go modules are prepared")
	if err := m.readWorkspaces(vendor); err != nil {
		return nil, err
	}
	for _, dir := range m.dirs {
		switch {
		case vendor[dir]:
			m.vendored = true
			continue
		case s.IsOffline():
			continue
		}
		text, err := ecosystem.ReadText(s, path.Join(dir, "go.mod"))
		if err != nil {
			return nil, err
		}
		if bytes.Contains(text, []byte("require")) {
			m.download = append(m.download, dir)
		}
	}
	return m, nil
}

// isIgnored tells directories that the go command itself never looks into.
func isIgnored(dir string) bool {
	return dir != "." && (isUnseen(dir) || slices.Contains(strings.Split(dir, "/"), "vendor"))
}

// compiled is the layer of the base tree and what it needs, compiled, as far as the checks
// look at it. It may fail:
// a base that does not compile is the gates' business, and what did compile is
// kept. Test binaries are linked, which caches everything below them, and then
// handed to /bin/true: nothing of the project is started. The tree lies where it
// will lie in a worker's container: the folder is part of the keys of its packages.
func (m *modules) compiled() ecosystem.Install {
	const failure, fix = "the base tree does not fit into the build container", "look whether the disk is full; or go on without dependencies, with container.deps: off"
	workspace := m.s.Places().Workspace
	tooLarge := func(int) string { return excuse(92) }
	var folders strings.Builder // with the packages that checks look at: a case of sh
	inputs := append(slices.Clone(m.inputs), workspace)
	for _, dir := range m.dirs {
		if packages := checkedPackages(m.s.Checks(), dir); packages != "./..." {
			folders.WriteString(dir + ") p=\"" + packages + "\";; ")
			inputs = append(inputs, "packages of "+dir, packages)
		}
	}
	return compiles(ecosystem.Install{
		Layer: "godeps", Why: "those modules and the base tree, compiled", What: "the compiled base tree", Inputs: inputs, History: true, IfKilled: excuse(137), Resume: resumeCache,
		Steps: []ecosystem.Step{
			{Dir: ".", Progress: "laying out the base tree", Failure: failure, Fix: fix, Excuse: tooLarge, Command: "cp -rs " + cachePath + " " + buildCache + " && if test -d " + interruptedCache + "; then cp -rsf " + interruptedCache + "/. " + buildCache + "; fi && git clone -q --shared " + m.s.Places().History + " " + workspace},
			{
				Dir: ".", Env: cacheEnv, Resumes: true, Progress: "compiling the base tree", Failure: failure, Fix: fix, Excuse: excuse,
				Command: `timeout -k 10 ${COMPANY_STEP_SECONDS:-870} /bin/sh -c '
rc=0 vet=0
for d in ` + strings.Join(m.dirs, " ") + `; do
	cd ` + workspace + `/"$d" || exit 92
	case "$d" in ` + folders.String() + `*) p=./...;; esac
	go build -o /dev/null $p || rc=1
	go vet $p || vet=93
	go test -exec=/bin/true $p || vet=93
done
test $rc -ne 0 || exit $vet
exit $rc'`,
			},
			{Dir: ".", Progress: "keeping what was compiled", Failure: failure, Fix: fix, Excuse: tooLarge, Command: saveCache},
		},
	})
}

// excuse says why a base tree did not compile whole.
func excuse(exit int) string {
	why := "does not build cleanly"
	switch exit {
	case 92:
		why = "does not fit into the build container"
	case 93:
		why = "builds, but go vet finds something in it or in its tests"
	case 124, 137:
		why = "takes too long to build"
	}
	return "the base commit " + why + "; what did compile is kept"
}
