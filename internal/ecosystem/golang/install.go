package golang

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
)

// Installs returns layers with the modules in the base commit's lock files and with the compiled base tree. If the
// task's lock files differ, a layer with their modules follows. Compiled packages of unchanged code stay valid.
func (Ecosystem) Installs(sources ecosystem.Sources) ([]ecosystem.Install, error) {
	base, err := readModules(sources.Base())
	if err != nil {
		return nil, err
	}
	base.isBase = true
	var out []ecosystem.Install
	if len(base.download) > 0 {
		install := base.fetched()
		install.Own = true
		out = append(out, install)
	}
	if base.needsCompiledLayer() {
		out = append(out, base.compiled())
	}
	if sources.Base() == sources {
		return out, nil
	}
	changed, err := readModules(sources)
	if err != nil {
		return nil, err
	}
	if len(changed.download) > 0 && !slices.Equal(changed.inputs, base.inputs) {
		install := changed.fetched()
		install.Why += ", as they were changed"
		out = append(out, install)
	}
	return out, nil
}

// manyFiles is the number of Go files from which a compiled layer pays off. Measured with two processors: for 10,000
// lines in 100 files, the layer takes 4 s to make and saves 1 s in each full test run. For 100,000 lines it takes 22
// s and saves 8 s.
const manyFiles = 100

// needsCompiledLayer reports whether compiling the tree again costs more than a layer. That is the case if it uses
// other modules or C, or has many files.
func (m *modules) needsCompiledLayer() bool {
	return m.vendored || len(m.download) > 0 || len(m.dirs) > 0 && (m.goFiles >= manyFiles || m.s.HasToolchain(cgo))
}

// modules holds the contents of a tree's lock files.
type modules struct {
	s        ecosystem.Sources
	locks    []string // paths of all lock files, sorted
	inputs   []string // names and ids of the files that key the layer
	dirs     []string // directories with a go.mod, "." first
	download []string // those in dirs whose modules come from a registry
	vendored bool     // some module vendors its dependencies
	works    []workspace
	goFiles  int // number of files that the go command reads
	// isBase means that they belong to the base commit, not to a task's changes.
	isBase bool
	// lacks describes modules whose download failed.
	lacks []string
}

// readModules reads the names of the lock files, and the texts of go.mod files that may require a download.
func readModules(sources ecosystem.Sources) (*modules, error) {
	m := &modules{s: sources}
	vendor := map[string]bool{}
	for _, name := range sources.Files() {
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
		// A replace directive may point to a folder that the go command otherwise ignores. The folder's go.mod must be
		// present.
		m.inputs = append(m.inputs, name, sources.FileID(name))
		if !isVendor {
			m.locks = append(m.locks, name)
		}
	}
	slices.Sort(m.dirs)
	if i := slices.Index(m.dirs, "."); i > 0 {
		m.dirs = slices.Insert(slices.Delete(m.dirs, i, i+1), 0, ".")
	}
	m.dirs = ecosystem.LimitProjects(sources, m.dirs, "Go modules are prepared")
	if err := m.readWorkspaces(vendor); err != nil {
		return nil, err
	}
	for _, dir := range m.dirs {
		switch {
		case vendor[dir]:
			m.vendored = true
			continue
		case sources.IsOffline():
			continue
		}
		text, err := ecosystem.ReadText(sources, path.Join(dir, "go.mod"))
		if err != nil {
			return nil, err
		}
		if bytes.Contains(text, []byte("require")) {
			m.download = append(m.download, dir)
		}
	}
	return m, nil
}

// isIgnored reports whether the go command ignores a directory.
func isIgnored(dir string) bool {
	return dir != "." && (isUnseen(dir) || slices.Contains(strings.Split(dir, "/"), "vendor"))
}

// compiled returns a layer with the base tree and its dependencies, compiled for the packages that the checks cover.
// Compiling may fail, because reporting a broken base is up to the gates. Successful results are kept. Test binaries
// are linked, which caches everything below them, and then passed to /bin/true, so no code of the project runs. The
// tree has the same path as in a worker's container, because the path is part of the cache keys.
func (m *modules) compiled() ecosystem.Install {
	const failure, fix = "the base tree does not fit into the build container",
		"look whether the disk is full; or go on without dependencies, with container.deps: off"
	workspace := m.s.Places().Workspace
	tooLarge := func(int) string { return excuse(92) }
	var folders strings.Builder // sh case branches with the packages that checks cover
	inputs := append(slices.Clone(m.inputs), workspace)
	for _, dir := range m.dirs {
		if packages := checkedPackages(m.s.Checks(), dir); packages != "./..." {
			folders.WriteString(dir + ") p=\"" + packages + "\";; ")
			inputs = append(inputs, "packages of "+dir, packages)
		}
	}
	return compiles(ecosystem.Install{
		Layer: "godeps", Why: "those modules and the base tree, compiled", What: "the compiled base tree", Inputs: inputs,
		History: true, IfKilled: excuse(137), Resume: resumeCache,
		Steps: []ecosystem.Step{
			{Dir: ".", Progress: "laying out the base tree", Failure: failure, Fix: fix, Excuse: tooLarge,
				Command: "cp -rs " + cachePath + " " + buildCache + " && if test -d " + interruptedCache + "; then cp -rsf " +
					interruptedCache + "/. " + buildCache + "; fi && git clone -q --shared " + m.s.Places().History + " " + workspace},
			{
				Dir: ".", Env: cacheEnv, Resumes: true, Progress: "compiling the base tree", Failure: failure, Fix: fix,
				Excuse: excuse,
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

// excuse describes why a base tree did not compile completely.
func excuse(exit int) string {
	reason := "does not build cleanly"
	switch exit {
	case 92:
		reason = "does not fit into the build container"
	case 93:
		reason = "builds, but go vet finds something in it or in its tests"
	case 124, 137:
		reason = "takes too long to build"
	}
	return "the base commit " + reason + "; what did compile is kept"
}
