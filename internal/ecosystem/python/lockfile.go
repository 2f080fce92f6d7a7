package python

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
)

// lockFile is what a tool has locked: every package, with its version, digests and
// needs. The tool itself is not there when it is installed.
type lockFile struct {
	file     string // path in the tree
	remedy   string // command that makes it anew
	packages map[string][]*lockedPackage
	names    []string // in the order of the file
	// isWhole: it has no needs; all that is in it is wanted.
	isWhole bool
}

// lockedPackage is one version of a package.
type lockedPackage struct {
	name, version string
	hashes        []string // sha256:…
	marker        string   // where it is wanted
	python        string   // versions of Python that it is for
	needs         []requirement
	extras        map[string][]requirement
	folder        string // of the tree, where it lies there, from the lock file's own
	elsewhere     string // what else it is of: git, an address; empty: a registry
}

// maxVersions bounds the versions of one package. Each requirement is compared with all of them.
const maxVersions = 100

// addPackage adds a version of a package. Versions of a name behind the first maxVersions are left out.
func (l *lockFile) addPackage(p *lockedPackage) {
	if p.name = canonicalName(p.name); p.name == "" || len(l.packages[p.name]) == maxVersions {
		return
	}
	if len(l.packages[p.name]) == 0 {
		l.names = append(l.names, p.name)
	}
	l.packages[p.name] = append(l.packages[p.name], p)
}

// lockReader reads the lock files of one tool.
type lockReader struct {
	name   string
	remedy string // command that makes it anew
	read   func(text []byte, l *lockFile) error
}

// lockReaders are those of all tools, in the order in which they count.
var lockReaders = []lockReader{
	{"uv.lock", "uv lock", readUVLock},
	{"poetry.lock", "poetry lock", readPoetryLock},
	{"pdm.lock", "pdm lock", readPDMLock},
	{"pylock.toml", "the tool that made it", readPylock},
	{"Pipfile.lock", "pipenv lock", readPipenvLock},
}

// findLock reads the lock file of a project: one beside it, or that of a workspace
// of uv's above that has the project as a member; nil: there is none.
func findLock(s ecosystem.Sources, dir string) (*lockFile, error) {
	for _, r := range lockReaders {
		for at := dir; ; at = path.Dir(at) {
			l, err := r.readFile(s, path.Join(at, r.name))
			if err != nil {
				return nil, err
			}
			if l != nil && (at == dir || l.hasMember(strings.TrimPrefix(strings.TrimPrefix(dir, at), "/"))) {
				return l, nil
			}
			if at == "." || r.name != "uv.lock" {
				break
			}
		}
	}
	return nil, nil
}

// readFile reads one lock file; nil: it is not there, or cannot be read, which is
// noted.
func (r lockReader) readFile(s ecosystem.Sources, file string) (*lockFile, error) {
	if !s.HasFile(file) {
		return nil, nil
	}
	text, err := ecosystem.ReadText(s, file)
	if err != nil {
		return nil, err
	}
	l := &lockFile{file: file, remedy: r.remedy, packages: map[string][]*lockedPackage{}}
	if err := r.read(text, l); err != nil {
		s.AddNote("%s cannot be read: %v (`%s` makes it anew)", file, err, r.remedy)
		return nil, nil
	}
	return l, nil
}

// hasMember says whether a folder below the lock file's is a package of it.
func (l *lockFile) hasMember(dir string) bool {
	for _, all := range l.packages {
		if slices.ContainsFunc(all, func(p *lockedPackage) bool { return p.folder == dir && dir != "" }) {
			return true
		}
	}
	return false
}

// selection is what a lock file gives for the requirements of a project.
type selection struct {
	pins      []*lockedPackage // of a registry
	folders   []string         // of the tree
	elsewhere []*lockedPackage
	open      []requirement // that the lock file does not have
	misfits   []string      // for people: how it does not fit
}

const maxLocked = 20_000 // packages with their extras, of one project

// choosePackages walks from the requirements of a project to all that they need, as far
// as markers hold.
func (l *lockFile) choosePackages(roots []requirement, env environment) (sel selection) {
	if l.isWhole {
		for _, name := range l.names {
			for _, p := range l.packages[name] {
				if env.holdsMarker(p.marker) {
					sel.takePackage(l, p)
				}
			}
		}
	}
	type step struct {
		r      requirement
		extras []string // of the package that needs it
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
		p, misfit := l.findPackage(at.r, env)
		if at.isRoot && (p == nil || misfit != "") {
			if sel.open = append(sel.open, at.r); !at.r.loose {
				sel.misfits = append(sel.misfits, misfit)
			}
			continue
		}
		if p == nil {
			continue
		}
		for _, extra := range append([]string{""}, at.r.extras...) {
			key := p.name + " " + p.version + " " + extra
			if seen[key] {
				continue
			}
			seen[key] = true
			needs := p.needs
			if extra == "" {
				sel.takePackage(l, p)
			} else {
				needs = p.extras[extra]
			}
			for _, n := range needs {
				queue = append(queue, step{n, at.r.extras, false})
			}
		}
	}
	return sel
}

func (sel *selection) takePackage(l *lockFile, p *lockedPackage) {
	switch {
	case p.folder != "":
		sel.folders = append(sel.folders, path.Join(path.Dir(l.file), p.folder))
	case p.elsewhere != "":
		sel.elsewhere = append(sel.elsewhere, p)
	case checkName(p.name, p.version) == nil && p.version != "" && !slices.Contains(sel.pins, p):
		sel.pins = append(sel.pins, p)
	}
}

// findPackage finds the package of a lock file that a requirement means here. The misfit says
// for people why there is none that fits.
func (l *lockFile) findPackage(r requirement, env environment) (_ *lockedPackage, misfit string) {
	var first *lockedPackage
	for _, p := range l.packages[r.name] {
		if !env.holdsMarker(p.marker) || !pythonFits(p.python, env) {
			continue
		}
		if first == nil {
			first = p
		}
		if fits, ok := versionFits(p.version, r.spec); fits || !ok || p.folder != "" || r.direct {
			return p, ""
		}
	}
	if first == nil {
		return nil, "it lacks " + r.name
	}
	return first, fmt.Sprintf("it has %s %s, and %s is asked for", r.name, first.version, r.name+r.spec)
}

// pythonFits says whether Python is one of those that a package is for.
func pythonFits(spec string, env environment) bool {
	fits, ok := versionFits(env.values["python_full_version"], translateConstraint(spec))
	return fits || !ok
}

// formatPin is a package for pip: its version and digests.
func (p *lockedPackage) formatPin() string {
	var line strings.Builder
	line.WriteString(p.name + "==" + p.version)
	for _, h := range p.hashes {
		line.WriteString(" --hash=" + h)
	}
	return line.String()
}
