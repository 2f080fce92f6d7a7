package python

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
)

// lockFile holds the locked packages of a tool, with versions, digests and dependencies. The tool itself is
// not available during the installation.
type lockFile struct {
	file     string // path in the tree
	remedy   string // command that regenerates it
	packages map[string][]*lockedPackage
	names    []string // in the order of the file
	// isWhole means that the file lists no dependencies and all packages in it are installed.
	isWhole bool
}

// lockedPackage is one version of a package.
type lockedPackage struct {
	name, version string
	hashes        []string // sha256:…
	marker        string   // environments that need it
	python        string   // supported versions of Python
	needs         []requirement
	extras        map[string][]requirement
	folder        string // folder of the tree that contains it, relative to the lock file
	elsewhere     string // another source, such as git or an address; empty for a registry
}

// maxVersions limits the versions of one package. Each requirement is compared with all of them.
const maxVersions = 100

// addPackage adds a version of a package. It ignores further versions after the first maxVersions.
func (l *lockFile) addPackage(pkg *lockedPackage) {
	if pkg.name = canonicalName(pkg.name); pkg.name == "" || len(l.packages[pkg.name]) == maxVersions {
		return
	}
	if len(l.packages[pkg.name]) == 0 {
		l.names = append(l.names, pkg.name)
	}
	l.packages[pkg.name] = append(l.packages[pkg.name], pkg)
}

// lockReader parses the lock files of one tool.
type lockReader struct {
	name   string
	remedy string // command that regenerates the file
	read   func(text []byte, l *lockFile) error
}

// lockReaders lists the readers of all tools by priority.
var lockReaders = []lockReader{
	{"uv.lock", "uv lock", readUVLock},
	{"poetry.lock", "poetry lock", readPoetryLock},
	{"pdm.lock", "pdm lock", readPDMLock},
	{"pylock.toml", "the tool that made it", readPylock},
	{"Pipfile.lock", "pipenv lock", readPipenvLock},
}

// findLock reads the lock file of a project. That is a lock file in its folder, or the uv.lock of a
// workspace above that has the project as a member. It returns nil if there is none.
func findLock(sources ecosystem.Sources, dir string) (*lockFile, error) {
	for _, lockReader := range lockReaders {
		for at := dir; ; at = path.Dir(at) {
			l, err := lockReader.readFile(sources, path.Join(at, lockReader.name))
			if err != nil {
				return nil, err
			}
			if l != nil && (at == dir || l.hasMember(strings.TrimPrefix(strings.TrimPrefix(dir, at), "/"))) {
				return l, nil
			}
			if at == "." || lockReader.name != "uv.lock" {
				break
			}
		}
	}
	return nil, nil
}

// readFile reads one lock file. It returns nil if the file does not exist. It also returns nil, and adds a
// note, if the file is invalid.
func (r lockReader) readFile(sources ecosystem.Sources, file string) (*lockFile, error) {
	if !sources.HasFile(file) {
		return nil, nil
	}
	text, err := ecosystem.ReadText(sources, file)
	if err != nil {
		return nil, err
	}
	l := &lockFile{file: file, remedy: r.remedy, packages: map[string][]*lockedPackage{}}
	if err := r.read(text, l); err != nil {
		sources.AddNote("%s cannot be read: %v (`%s` regenerates it)", file, err, r.remedy)
		return nil, nil
	}
	return l, nil
}

// hasMember reports whether a folder is a package of the lock file. The folder is relative to that of the
// lock file.
func (l *lockFile) hasMember(dir string) bool {
	for _, packages := range l.packages {
		if slices.ContainsFunc(packages, func(p *lockedPackage) bool { return p.folder == dir && dir != "" }) {
			return true
		}
	}
	return false
}

// selection holds the packages that a lock file provides for the requirements of a project.
type selection struct {
	pins      []*lockedPackage // packages of a registry
	folders   []string         // folders of the tree
	elsewhere []*lockedPackage
	open      []requirement // requirements that the lock file lacks
	misfits   []string      // descriptions of mismatches, for people
}

const maxLocked = 20_000 // packages and extras of one project at most

// choosePackages collects the requirements of a project and all their dependencies whose markers are true.
func (l *lockFile) choosePackages(roots []requirement, env environment) (sel selection) {
	if l.isWhole {
		for _, name := range l.names {
			for _, pkg := range l.packages[name] {
				if env.holdsMarker(pkg.marker) {
					sel.takePackage(l, pkg)
				}
			}
		}
	}
	type step struct {
		r      requirement
		extras []string // extras of the package that needs it
		isRoot bool
	}
	var queue []step
	for _, r := range roots {
		queue = append(queue, step{r, nil, true})
	}
	seen := map[string]bool{}
	for len(queue) > 0 && len(seen) < maxLocked {
		at := queue[0]
		queue = queue[1:]
		here := env
		here.extras = at.extras
		if !here.holdsMarker(at.r.marker) {
			continue
		}
		pkg, misfit := l.findPackage(at.r, env)
		if at.isRoot && (pkg == nil || misfit != "") {
			if sel.open = append(sel.open, at.r); !at.r.loose {
				sel.misfits = append(sel.misfits, misfit)
			}
			continue
		}
		if pkg == nil {
			continue
		}
		for _, extra := range append([]string{""}, at.r.extras...) {
			key := pkg.name + " " + pkg.version + " " + extra
			if seen[key] {
				continue
			}
			seen[key] = true
			needs := pkg.needs
			if extra == "" {
				sel.takePackage(l, pkg)
			} else {
				needs = pkg.extras[extra]
			}
			for _, n := range needs {
				queue = append(queue, step{n, at.r.extras, false})
			}
		}
	}
	return sel
}

func (sel *selection) takePackage(l *lockFile, pkg *lockedPackage) {
	switch {
	case pkg.folder != "":
		sel.folders = append(sel.folders, path.Join(path.Dir(l.file), pkg.folder))
	case pkg.elsewhere != "":
		sel.elsewhere = append(sel.elsewhere, pkg)
	case checkName(pkg.name, pkg.version) == nil && pkg.version != "" && !slices.Contains(sel.pins, pkg):
		sel.pins = append(sel.pins, pkg)
	}
}

// findPackage returns the locked package for a requirement in this environment. misfit explains to people
// why no package fits.
func (l *lockFile) findPackage(r requirement, env environment) (_ *lockedPackage, misfit string) {
	var first *lockedPackage
	for _, pkg := range l.packages[r.name] {
		if !env.holdsMarker(pkg.marker) || !pythonFits(pkg.python, env) {
			continue
		}
		if first == nil {
			first = pkg
		}
		if fits, ok := versionFits(pkg.version, r.spec); fits || !ok || pkg.folder != "" || r.direct {
			return pkg, ""
		}
	}
	if first == nil {
		return nil, "it lacks " + r.name
	}
	return first, fmt.Sprintf("it has %s %s, and %s is asked for", r.name, first.version, r.name+r.spec)
}

// pythonFits reports whether the environment's Python matches a package's version constraint. It returns
// true for an invalid constraint.
func pythonFits(spec string, env environment) bool {
	fits, ok := versionFits(env.values["python_full_version"], translateConstraint(spec))
	return fits || !ok
}

// formatPin returns the package in pip's syntax, with version and digests.
func (p *lockedPackage) formatPin() string {
	var line strings.Builder
	line.WriteString(p.name + "==" + p.version)
	for _, h := range p.hashes {
		line.WriteString(" --hash=" + h)
	}
	return line.String()
}
