package python

import (
	"bytes"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/safetext"
)

var (
	// registryLineRE matches a line that names a package of the registry. It does not match options, folders
	// and addresses.
	registryLineRE = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]*\s*(\[[A-Za-z0-9._,\s-]*\])?\s*([(=<>!~;].*)?$`)
	includeRE      = lazyregexp.New(`^(-r|--requirement|-c|--constraint)[\s=]*(\S+)`)
	hashOptionRE   = lazyregexp.New(`\s*--hash=\S+`)
	exactRE        = lazyregexp.New(`^==\s*[^*,\s]+$`)
	folderRE       = lazyregexp.New(
		`^(?:-e\s*|--editable[ =]\s*)?(?:file:)?(\.{1,2}/[A-Za-z0-9._/-]*|[A-Za-z0-9._-]+/[A-Za-z0-9._/-]*)(?:\[[^\]]*\])?$`)
	editableRE = lazyregexp.New(`^(?:-e\s*|--editable[ =]\s*)([A-Za-z0-9._/-]+)(?:\[[^\]]*\])?$`)
)

// requirements holds the packages that pip installs for a tree. Packages pinned by lock files are installed
// first, with digests and without their dependencies. pip then resolves and installs the rest.
type requirements struct {
	s           ecosystem.Sources
	env         environment
	pins        []string // name==version and digests
	lines       []string
	constraints []string
	locks       map[string][]byte // path → content, for the policy
	from        []string          // files with the lines
	sources     []string          // directories of the tree that modules are imported from
	fileOf      map[string]string // pin or line → file that requires it
	pinned      map[string]string // name → version
	seen        map[string]bool
	listBytes   int                 // total size of the lists read so far
	extras      map[string][]string // folder → extras of its project that lists require
	skipped     []string            // lines that are not installed, a limited number
	loose       []string            // lines that may be missing if the registry is unreachable
}

// readRequirements reads the requirements lists and manifests of a tree.
func readRequirements(sources ecosystem.Sources) (*requirements, error) {
	r := &requirements{s: sources, env: debianEnvironment(runtime.GOARCH), locks: map[string][]byte{},
		fileOf: map[string]string{}, pinned: map[string]string{}, seen: map[string]bool{}, extras: map[string][]string{}}
	named, err := readNamedLists(sources)
	if err != nil {
		return r, err
	}
	for _, name := range ecosystem.LimitProjects(
		sources, chooseLists(sources.Files(), named), "lists of requirements are installed") {
		if err := r.readList(name, false, 0); err != nil {
			return r, err
		}
	}
	for _, dir := range findProjects(sources) {
		if err := r.readProject(dir); err != nil {
			return r, err
		}
	}
	if len(r.pinned) == 0 {
		if err := r.addCIPackages(); err != nil {
			return r, err
		}
	}
	for _, left := range r.skipped {
		sources.AddNote("%s is not installed: only packages of the registry are", left)
	}
	r.leaveOutPinned()
	r.lines = uniqueStrings(r.lines)
	r.constraints = uniqueStrings(r.constraints)
	r.sources = uniqueStrings(r.sources)
	return r, nil
}

// findProjects lists the folders with a manifest, upper folders first.
func findProjects(sources ecosystem.Sources) (dirs []string) {
	seen := map[string]bool{}
	for _, name := range sources.Files() {
		dir, base := path.Dir(name), path.Base(name)
		if slices.Contains(projectFiles, base) && ecosystem.IsPlainPath(dir) && ecosystem.HasOwnLocks(dir) && !seen[dir] {
			seen[dir] = true
			dirs = append(dirs, dir)
		}
	}
	slices.SortStableFunc(dirs, func(a, b string) int {
		return ecosystem.CompareDepth(strings.TrimPrefix(a, "."), strings.TrimPrefix(b, "."))
	})
	return ecosystem.LimitProjects(sources, dirs, "Python projects are looked at")
}

func stripHashes(line string) string {
	return strings.TrimSpace(hashOptionRE.ReplaceAllString(line, ""))
}

func uniqueStrings(all []string) []string {
	seen := make(map[string]bool, len(all))
	return slices.DeleteFunc(all, func(s string) bool {
		again := seen[s]
		seen[s] = true
		return again
	})
}

func (r *requirements) noteSkipped(file, line string) {
	if len(r.skipped) < 5 {
		r.skipped = append(r.skipped, fmt.Sprintf("%q of %s", safetext.Cut(safetext.StripLine(line), 60), file))
	}
}

// Limits of the requirements lists of one tree. A list of a few kilobytes may include the same large text
// in a thousand folders.
const (
	maxLists     = 1000
	maxListBytes = 32 << 20 // total of all lists
)

// readList reads a list of requirements or of constraints, and the lists that it includes.
func (r *requirements) readList(name string, constrains bool, depth int) error {
	if r.seen[name] || depth > 8 || !r.s.HasFile(name) {
		return nil
	}
	r.seen[name] = true
	if len(r.seen) > maxLists || r.listBytes > maxListBytes {
		r.noteSkipped("the lists of requirements", "everything after the first 1,000 lists, or 32 MiB of them,")
		return nil
	}
	text, err := ecosystem.ReadText(r.s, name)
	if err != nil {
		return err
	}
	r.listBytes += len(text)
	r.locks[name] = text
	found := false
	joined := strings.ReplaceAll(strings.ReplaceAll(string(text), "\r", ""), "\\\n", " ")
	for line := range strings.SplitSeq(joined, "\n") {
		line, _, _ = strings.Cut(" "+line, " #")
		line = strings.Join(strings.Fields(line), " ")
		bare := stripHashes(line)
		if m := includeRE.FindStringSubmatch(line); m != nil {
			if to := path.Join(path.Dir(name), m[2]); filepath.IsLocal(to) &&
				!(isForDevelopment(name) && rankList(to) == listOfOthers) {
				if err := r.readList(to, constrains || strings.HasPrefix(m[1], "-c") || m[1] == "--constraint",
					depth+1); err != nil {
					return err
				}
			}
			continue
		}
		switch {
		case bare == "" || strings.HasPrefix(bare, "#"):
		case r.readsTree(name, bare): // a folder of the tree
		case strings.HasPrefix(bare, "--") || strings.HasPrefix(bare, "-i ") || strings.HasPrefix(bare, "-f "):
			// the operator chooses the index
		case !registryLineRE.MatchString(bare):
			r.noteSkipped(name, bare)
		case constrains:
			r.constraints = append(r.constraints, bare)
		default:
			found = true
			r.addLine(name, line)
		}
	}
	if found {
		r.from = append(r.from, name)
	}
	return nil
}

// readsTree reports whether a line names the project itself or another folder of the tree. It adds the
// requested extras or the folder's modules.
func (r *requirements) readsTree(file, line string) bool {
	line, _, _ = strings.Cut(line, " ;")
	project := projectOfList(path.Dir(file))
	if m := ownFolderRE.FindStringSubmatch(line); m != nil {
		r.extras[project] = append(r.extras[project],
			strings.FieldsFunc(m[1], func(c rune) bool { return c == ',' || c == ' ' })...)
		return true
	}
	m := editableRE.FindStringSubmatch(line)
	if m == nil {
		m = folderRE.FindStringSubmatch(line)
	}
	if m == nil {
		return false
	}
	for _, base := range []string{project, path.Dir(file)} { // pip resolves it where pip runs
		if dir := path.Join(base, m[1]); r.addSource(dir) {
			return true
		}
	}
	return false
}

// addSource makes the modules in a folder of the tree importable, or those in its src folder if it has any.
// It returns false if there are no modules.
func (r *requirements) addSource(dir string) bool {
	if !filepath.IsLocal(dir) || !ecosystem.IsPlainPath(dir) {
		return false
	}
	for _, at := range []string{path.Join(dir, "src"), dir} {
		if r.hasModules(at) {
			if at != "." {
				r.sources = append(r.sources, at)
			}
			return true
		}
	}
	return false
}

// hasModules reports whether there is a module in or below a folder.
func (r *requirements) hasModules(dir string) bool {
	return slices.ContainsFunc(ecosystem.SelectBelow(r.s.Files(), dir),
		func(name string) bool { return strings.HasSuffix(name, ".py") })
}

// addLine adds a requirement from a list. A line with an exact version and digests is a pin, as in a lock
// file. Other lines lose their digests, because pip checks digests for all lines of a list or for none.
func (r *requirements) addLine(file, line string) {
	bare := stripHashes(line)
	if r.fileOf[bare] == "" {
		r.fileOf[bare] = file
	}
	req, ok := parseRequirement(bare)
	if ok && bare != line && exactRE.MatchString(req.spec) {
		if r.env.holdsMarker(req.marker) {
			version := strings.TrimSpace(req.spec[2:])
			r.addPin(file, req.name, version,
				req.name+"=="+version+" "+strings.Join(strings.Fields(line[strings.Index(line, "--hash="):]), " "))
		}
		return
	}
	r.lines = append(r.lines, bare)
}

// addPin adds a version from a lock file. Only the first version of a name is used, because an image has
// one version of each package.
func (r *requirements) addPin(file, name, version, pin string) {
	if has, ok := r.pinned[name]; ok {
		if has != version {
			r.s.AddNote("%s asks for %s %s, and the image has %s", file, name, version, has)
		}
		return
	}
	r.pinned[name] = version
	r.fileOf[stripHashes(pin)] = file
	r.constraints = append(r.constraints, name+"=="+version)
	if strings.Contains(pin, "--hash=") {
		r.pins = append(r.pins, pin)
	} else {
		r.lines = append(r.lines, pin) // pip rejects it among lines with digests
	}
}

// leaveOutPinned removes lines whose package a lock file pins with digests.
func (r *requirements) leaveOutPinned() {
	files := map[string]string{} // package name → file that pins it with digests
	for _, p := range r.pins {
		name, _, _ := strings.Cut(p, "==")
		files[name] = r.fileOf[stripHashes(p)]
	}
	r.lines = slices.DeleteFunc(r.lines, func(line string) bool {
		req, ok := parseRequirement(line)
		version, file := r.pinned[req.name], files[req.name]
		if !ok || file == "" || len(req.extras) > 0 {
			return false
		}
		if fits, ok := versionFits(version, req.spec); ok && !fits && r.env.holdsMarker(req.marker) {
			r.s.AddNote("%s asks for %s, and the image has %s of %s", r.fileOf[line], safetext.Cut(safetext.StripLine(line), 60),
				version, file)
		}
		return true
	})
}

// readProject reads the requirements in the manifests of a folder and the versions that a lock file pins.
func (r *requirements) readProject(dir string) error {
	project, err := readManifests(r.s, dir)
	if err != nil {
		return err
	}
	project.wantGroups(r.extras[dir], nil)
	if src := path.Join(dir, "src"); r.hasModules(src) {
		r.sources = append(r.sources, src)
	}
	for _, folder := range project.folders {
		r.addSource(folder)
	}
	for file, text := range project.files {
		r.locks[file] = text
	}
	for _, list := range project.lists {
		if err := r.readList(list, false, 0); err != nil {
			return err
		}
	}
	roots := r.parseLines(project)
	lock, err := findLock(r.s, dir)
	if err != nil {
		return err
	}
	if lock == nil {
		for _, root := range roots {
			r.addRoot(project, root)
		}
		if len(roots) > 0 {
			r.from = append(r.from, project.manifestOf(roots[0].line))
			r.s.AddNote("%s has no lock file: the image has the versions that the registry gave when it was made "+
				"(uv lock makes one; commit it)",
				project.manifestOf(roots[0].line))
		}
		return nil
	}
	env := r.env
	for name := range project.wanted {
		if extra, ok := strings.CutPrefix(name, "extra "); ok {
			env.extras = append(env.extras, extra)
		} else {
			env.groups = append(env.groups, strings.TrimPrefix(name, "group "))
		}
	}
	if r.locks[lock.file], err = ecosystem.ReadText(r.s, lock.file); err != nil {
		return err
	}
	r.addSelection(project, lock, lock.choosePackages(roots, env))
	return nil
}

// parseLines parses the lines of a project that name packages of a registry. It notes lines that cannot be
// installed.
func (r *requirements) parseLines(p *project) (out []requirement) {
	for _, written := range p.lines {
		line := strings.Join(strings.Fields(written), " ")
		switch req, ok := parseRequirement(line); {
		case line == "" || strings.HasPrefix(line, "-"):
		case !ok || req.direct && !strings.Contains(line, "file:"):
			r.noteSkipped(p.manifestOf(line), line)
		case req.direct: // a folder of the tree
		default:
			req.loose = p.loose[written]
			out = append(out, req)
		}
	}
	return out
}

// addRoot adds a requirement of a project that no lock file covers.
func (r *requirements) addRoot(p *project, root requirement) {
	if root.loose && r.fileOf[root.line] == "" {
		r.loose = append(r.loose, root.line)
	}
	r.addLine(p.manifestOf(root.line), root.line)
}

// manifestOf returns the manifest that contains a line's package name, or else the path of pyproject.toml.
func (p *project) manifestOf(line string) string {
	name, _, _ := ecosystem.SplitRequirement(line)
	for _, base := range projectFiles {
		file := path.Join(p.dir, base)
		if text, ok := p.files[file]; ok && bytes.Contains(text, []byte(name)) {
			return file
		}
	}
	return path.Join(p.dir, projectFiles[0])
}

// addSelection adds the packages from a lock file, and a note where the file does not match the manifests.
func (r *requirements) addSelection(p *project, lock *lockFile, sel selection) {
	for _, one := range sel.pins {
		r.addPin(lock.file, one.name, one.version, one.formatPin())
	}
	for _, folder := range sel.folders {
		r.addSource(folder)
	}
	for _, one := range sel.elsewhere {
		r.noteSkipped(lock.file, one.name)
	}
	if len(sel.pins) > 0 {
		r.from = append(r.from, lock.file)
	}
	if len(sel.open) == 0 || lock.isWhole {
		return
	}
	for _, req := range sel.open {
		r.addRoot(p, req)
	}
	manifest := p.manifestOf(sel.open[0].line)
	if r.from = append(r.from, manifest); len(sel.misfits) == 0 {
		return
	}
	const most = 3
	said := strings.Join(sel.misfits[:min(most, len(sel.misfits))], "; ")
	if more := len(sel.misfits) - most; more > 0 {
		said += fmt.Sprintf("; and %d more", more)
	}
	r.s.AddNote("%s does not fit %s: %s. These are what the registry gives (`%s` regenerates the lock file)", lock.file,
		manifest, safetext.StripLine(said), lock.remedy)
}
