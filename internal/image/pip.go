package image

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/depproxy"
	"company/internal/ecosystem"
	"company/internal/safetext"
	"company/internal/toolproto"
)

// pipDeps is what a tree asks pip to install: requirements, and the versions
// that lock files of other tools pin where one of them is wanted.
type pipDeps struct {
	lines       []string
	constraints []string
	locks       map[string][]byte // path → content, for the policy
	from        []string          // files that the requirements are from
	sources     []string          // directories of the tree that modules are imported from
}

func (d pipDeps) keyInputs() []string {
	return append(append(slices.Clone(d.lines), "constraints"), d.constraints...)
}

var (
	// requirementRE is a line that names a package of the registry. Options,
	// folders and addresses are none.
	requirementRE = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*\s*(\[[A-Za-z0-9._,\s-]*\])?\s*([(=<>!~;].*)?$`)
	includeRE     = regexp.MustCompile(`^(-r|--requirement|-c|--constraint)[\s=]+(\S+)`)
	hashOptionRE  = regexp.MustCompile(`\s*--hash=\S+`)
	// devGroups are the groups of dependencies that working on a project needs.
	devGroups = []string{"dev", "develop", "development", "lint", "test", "testing", "tests"}
)

// readPipDeps reads the lists of a tree.
func (p *layerPlan) readPipDeps(ctx context.Context, tree treeFiles) (pipDeps, error) {
	d := pipDeps{locks: map[string][]byte{}}
	r := &pipReader{ctx: ctx, tree: tree, d: &d, seen: map[string]bool{}}
	var lists, projects []string
	for _, l := range tree.entries {
		dir, base := path.Split(l.path)
		dir = path.Clean("./" + dir)
		if !safeDirRE.MatchString(dir) || !safeDirRE.MatchString(base) || isForeignDir(dir) {
			continue
		}
		if ok, _ := path.Match("*requirements*.txt", base); ok || path.Base(dir) == "requirements" && path.Ext(base) == ".txt" {
			lists = append(lists, l.path)
		}
		if slices.Contains([]string{"pyproject.toml", "setup.py", "setup.cfg"}, base) && !slices.Contains(projects, dir) {
			projects = append(projects, dir)
		}
	}
	if len(lists) > maxProjects {
		p.addNote("only the first %d of %d lists of requirements are installed", maxProjects, len(lists))
		lists = lists[:maxProjects]
	}
	for _, name := range lists {
		if err := r.readList(name, false, 0); err != nil {
			return d, err
		}
	}
	for _, dir := range projects {
		if err := r.readPyproject(p, dir); err != nil {
			return d, err
		}
		src := path.Join(dir, "src")
		if slices.ContainsFunc(tree.entries, func(l lockFile) bool { return strings.HasPrefix(l.path, src+"/") && strings.HasSuffix(l.path, ".py") }) {
			d.sources = append(d.sources, src)
		}
	}
	for _, left := range r.skipped {
		p.addNote("%s is not installed: only packages of the registry are", left)
	}
	// Digests are checked by pip for all lines or for none.
	if slices.ContainsFunc(d.lines, func(l string) bool { return !strings.Contains(l, "--hash=") }) {
		for i, l := range d.lines {
			d.lines[i] = strings.TrimSpace(hashOptionRE.ReplaceAllString(l, ""))
		}
	}
	d.lines = uniqueStrings(d.lines)
	d.constraints = uniqueStrings(d.constraints)
	return d, nil
}

func uniqueStrings(all []string) []string {
	var out []string
	seen := make(map[string]bool, len(all))
	for _, s := range all {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// pipReader follows the lists of requirements through a tree.
type pipReader struct {
	ctx     context.Context
	tree    treeFiles
	d       *pipDeps
	seen    map[string]bool
	skipped []string // lines that are left out, bounded
}

func (r *pipReader) noteSkipped(file, line string) {
	if len(r.skipped) < 5 {
		r.skipped = append(r.skipped, fmt.Sprintf("%q of %s", safetext.Cut(safetext.StripLine(line), 60), file))
	}
}

// readList reads one list of requirements, or of constraints, and those that it
// includes.
func (r *pipReader) readList(name string, constrains bool, depth int) error {
	if r.seen[name] || depth > 8 || !r.tree.hasFile(name) {
		return nil
	}
	r.seen[name] = true
	text, err := r.tree.readText(r.ctx, name)
	if err != nil {
		return err
	}
	r.d.locks[name] = text
	found := false
	joined := strings.ReplaceAll(strings.ReplaceAll(string(text), "\r", ""), "\\\n", " ")
	for line := range strings.SplitSeq(joined, "\n") {
		line, _, _ = strings.Cut(" "+line, " #")
		line = strings.Join(strings.Fields(line), " ")
		bare := strings.TrimSpace(hashOptionRE.ReplaceAllString(line, ""))
		if m := includeRE.FindStringSubmatch(line); m != nil {
			if to := path.Join(path.Dir(name), m[2]); filepath.IsLocal(to) {
				if err := r.readList(to, constrains || strings.HasPrefix(m[1], "-c") || m[1] == "--constraint", depth+1); err != nil {
					return err
				}
			}
			continue
		}
		switch {
		case bare == "" || strings.HasPrefix(bare, "#"):
		case bare == "-e ." || bare == "." || strings.HasPrefix(bare, "-e .["): // the project itself lies in the tree
		case strings.HasPrefix(bare, "--") || strings.HasPrefix(bare, "-i ") || strings.HasPrefix(bare, "-f "): // where from is the operator's choice
		case !requirementRE.MatchString(bare):
			r.noteSkipped(name, bare)
		case constrains:
			r.d.constraints = append(r.d.constraints, bare)
		default:
			found = true
			r.d.lines = append(r.d.lines, line)
		}
	}
	if found {
		r.d.from = append(r.d.from, name)
	}
	return nil
}

// readPyproject reads what a pyproject.toml asks for, and the versions that a lock
// file beside it pins.
func (r *pipReader) readPyproject(p *layerPlan, dir string) error {
	name := path.Join(dir, "pyproject.toml")
	if !r.tree.hasFile(name) {
		return nil
	}
	text, err := r.tree.readText(r.ctx, name)
	if err != nil {
		return err
	}
	var m struct {
		Project struct {
			Dependencies []string
			Optional     map[string][]string `toml:"optional-dependencies"`
		}
		Groups map[string][]any `toml:"dependency-groups"`
		Tool   struct {
			Poetry struct {
				Dependencies map[string]any
				Dev          map[string]any `toml:"dev-dependencies"`
				Group        map[string]struct{ Dependencies map[string]any }
			}
		}
	}
	if err := ecosystem.ReadTOML(text, &m); err != nil {
		p.addNote("%s cannot be read: %s", name, safetext.Cut(safetext.StripLine(err.Error()), 60))
		return nil
	}
	lines := slices.Clone(m.Project.Dependencies)
	for _, g := range devGroups {
		lines = append(lines, m.Project.Optional[g]...)
		for _, l := range m.Groups[g] {
			if s, ok := l.(string); ok {
				lines = append(lines, s)
			}
		}
	}
	named := []map[string]any{m.Tool.Poetry.Dependencies, m.Tool.Poetry.Dev}
	for _, g := range sortedKeys(m.Tool.Poetry.Group) {
		named = append(named, m.Tool.Poetry.Group[g].Dependencies)
	}
	for _, set := range named {
		for _, n := range sortedKeys(set) {
			if _, isTable := set[n].(map[string]any); n != "python" && !isTable {
				lines = append(lines, n)
			}
		}
	}
	kept := 0
	for _, l := range lines {
		l = strings.Join(strings.Fields(l), " ")
		if !requirementRE.MatchString(l) {
			r.noteSkipped(name, l)
			continue
		}
		kept++
		r.d.lines = append(r.d.lines, l)
	}
	if kept == 0 {
		return nil
	}
	r.d.locks[name] = text
	r.d.from = append(r.d.from, name)
	return r.readPins(p, dir)
}

// readPins reads the versions that a project's own tool has locked.
func (r *pipReader) readPins(p *layerPlan, dir string) error {
	for _, lock := range []string{"uv.lock", "poetry.lock", "pdm.lock", "pylock.toml"} {
		name := path.Join(dir, lock)
		if !r.tree.hasFile(name) {
			continue
		}
		text, err := r.tree.readText(r.ctx, name)
		if err != nil {
			return err
		}
		r.d.locks[name] = text
		found, notes := depproxy.ParseLocks(map[string][]byte{name: text})
		p.notes = append(p.notes, notes...)
		versions := map[string]int{}
		for _, d := range found {
			versions[d.Name]++
		}
		for _, d := range found {
			if versions[d.Name] == 1 && d.Version != "" { // else it depends on the platform which one
				r.d.constraints = append(r.d.constraints, d.Name+"=="+d.Version)
			}
		}
		return nil
	}
	p.addNote("%s has no lock file: the image has the versions that the registry gave when it was made", path.Join(dir, "pyproject.toml"))
	return nil
}

// withVenv puts the environment of the prepared packages first.
func withVenv(env []string) []string {
	out := []string{"VIRTUAL_ENV=" + venvPath}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		if name == "PATH" {
			e = "PATH=" + venvPath + "/bin:" + value
		}
		if name != "VIRTUAL_ENV" {
			out = append(out, e)
		}
	}
	return out
}

// fillPip installs wheels into an environment of their own, which sees Debian's
// packages too. A package without a wheel would run its set-up: it is refused.
func (b *Builder) fillPip(d pipDeps, fetch *registryAccess) writeLayerFunc {
	return func(ctx context.Context, under *existingImage, work string, l *layer) error {
		stage := func(s *layer) error {
			if err := s.addDir(strings.TrimPrefix(venvPath, "/"), agentID); err != nil {
				return err
			}
			if err := s.addBytes("opt/out/requirements.txt", 0o644, []byte(strings.Join(d.lines, "\n")+"\n")); err != nil {
				return err
			}
			return s.addBytes("opt/out/constraints.txt", 0o644, []byte(strings.Join(d.constraints, "\n")+"\n"))
		}
		do := func(h *buildSession) error {
			b.reportProgress("installing the Python packages of %s", strings.Join(d.from, ", "))
			env := map[string]string{
				"PIP_CONFIG_FILE": "/dev/null", "PIP_INDEX_URL": registryURL + "/pypi/simple/", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1",
				"PIP_CACHE_DIR": "/tmp/pip", "PIP_RETRIES": "1",
			}
			r, err := h.runCommand("", "python3 -m venv --system-site-packages --without-pip "+venvPath, nil)
			if err == nil && r.ExitCode == 0 {
				r, err = h.runCommand("", "python3 -m pip --python "+venvPath+"/bin/python install -q --only-binary :all: --no-compile --no-warn-script-location"+
					" -c constraints.txt -r requirements.txt", env)
			}
			if err == nil && r.ExitCode == 0 {
				// Times of files in a layer mean nothing: compiled files must
				// not be judged by them.
				r, err = h.runCommand("", venvPath+"/bin/python -m compileall -q --invalidation-mode unchecked-hash "+venvPath+"/lib || true", nil)
			}
			if err == nil && r.ExitCode != 0 {
				err = clientError("the Python packages of "+strings.Join(d.from, ", ")+" cannot be installed", r,
					"check that `pip install --only-binary :all:` works with these files for Python "+debianPython+" and `pip config get global.index-url` answers; or go on without them, with container.deps: off: what needs them stays red")
			}
			return err
		}
		collect := func(ctx context.Context, name string) error { return b.collectVenv(ctx, name, l) }
		return b.runInstall(ctx, installJob{name: "pip-" + filepath.Base(work), image: under.id, stageFiles: stage, access: fetch, work: do, collect: collect, timeout: 25 * time.Minute}, work)
	}
}

func (b *Builder) collectVenv(ctx context.Context, name string, l *layer) error {
	var total int64
	return b.readTree(ctx, name, venvPath, func(h *tar.Header, r io.Reader) error {
		to := path.Join(path.Dir(strings.TrimPrefix(venvPath, "/")), cleanName(h.Name))
		if total += h.Size; total > maxDeps {
			return company.E(company.EImage, "the project's Python packages are over 4 GiB").Fix("set container.deps: off")
		}
		switch h.Typeflag {
		case tar.TypeDir:
			return l.addDir(to, 0)
		case tar.TypeReg:
			mode := int64(0o644)
			if h.Mode&0o111 != 0 {
				mode = 0o755
			}
			return l.addStream(to, mode, h.Size, r)
		case tar.TypeSymlink:
			if h.Linkname == "lib" || strings.HasPrefix(h.Linkname, "python") || strings.HasPrefix(h.Linkname, "/usr/bin/python") {
				return l.addLink(to, h.Linkname)
			}
		}
		return nil
	})
}

// fillSources makes a project's own modules importable where they lie in a src
// directory, as an editable installation would.
func fillSources(dirs []string) writeLayerFunc {
	return func(_ context.Context, _ *existingImage, _ string, l *layer) error {
		var text strings.Builder
		for _, d := range dirs {
			text.WriteString(path.Join(toolproto.Workspace, d) + "\n")
		}
		return l.addBytes("usr/local/lib/python"+debianPython+"/dist-packages/company-project.pth", 0o644, []byte(text.String()))
	}
}
