package python

import (
	_ "embed" // the script that runs pip
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"company/internal/ecosystem"
)

// installScript runs pip in the build container and leaves out packages that are unavailable.
//
//go:embed install.py
var installScript []byte

// missingDir is the folder in which the script creates a file for each package that it left out.
const missingDir = ".missing"

// wheelsLayer returns the layer with the pinned packages of lock files and the packages of lists.
func (r *requirements) wheelsLayer() ecosystem.Install {
	from := strings.Join(uniqueStrings(r.from), ", ")
	failure := "the Python packages of " + from + " cannot be installed"
	fix := "check that `pip install --only-binary :all:` works with these files for Python " + debianVersion +
		" and `pip config get global.index-url` answers; or go on without them, with container.deps: off: what needs them " +
		"stays red"
	text := func(lines []string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }
	return ecosystem.Install{
		Layer: "pip", Why: "the Python packages of " + from, What: from, Registry: ecosystem.PyPI, Remote: true,
		Locks: r.locks, Says: says,
		Inputs: slices.Concat(r.pins, []string{"lines"}, r.lines, []string{"constraints"}, r.constraints,
			[]string{r.s.HashText(string(installScript))}),
		Stage: []ecosystem.StagedFile{
			{Path: "pins.txt", Text: text(r.pins)}, {Path: "requirements.txt", Text: text(r.lines)},
			{Path: "constraints.txt", Text: text(r.constraints)}, {Path: "loose.txt", Text: text(r.loose)},
			{Path: "install.py", Text: installScript},
		},
		Steps: []ecosystem.Step{
			{Dir: ".", Command: "python3 -m venv --system-site-packages --without-pip " + venv,
				Progress: "making an environment for Python packages", Failure: failure, Fix: fix},
			{
				Dir: ".", Progress: "installing the Python packages of " + from, Failure: failure, Fix: fix,
				MayLack: len(r.pins) == 0 && r.areLoose(r.lines),
				Command: "python3 install.py " + venv + " " + missingDir,
				Env: map[string]string{
					"PIP_CONFIG_FILE": "/dev/null", "PIP_INDEX_URL": r.s.Places().Registry + "/pypi/simple/",
					"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1",
					// The local mirror already caches fetched files.
					"PIP_NO_CACHE_DIR": "1", "PIP_RETRIES": "0", "PIP_DEFAULT_TIMEOUT": strconv.Itoa(ecosystem.ClientPatience),
					"PIP_ROOT_USER_ACTION": "ignore",
				},
			},
			// File times in a layer are meaningless, so compiled files must not depend on them. Parallel Python
			// processes need locks in /dev/shm.
			{Dir: ".", Command: venv + "/bin/python -m compileall -q -j $(test -w /dev/shm && echo 0 || echo 1) " +
				"--invalidation-mode unchecked-hash " + venv + "/lib || true", Progress: "compiling the Python packages",
				Failure: failure, Fix: fix},
		},
		From: venv, Collector: func() ecosystem.Collector {
			return &venvCollector{asked: slices.Concat(r.pins, r.lines), fileOf: r.fileOf}
		},
		Env: ecosystem.Env{Set: map[string]string{"VIRTUAL_ENV": venv}, Path: venv + "/bin"},
	}
}

// areLoose reports whether all lines may be missing if the registry is unreachable.
func (r *requirements) areLoose(lines []string) bool {
	return !slices.ContainsFunc(lines, func(line string) bool { return !slices.Contains(r.loose, line) })
}

// venvCollector copies a virtual environment to the path at which it was made, because its files contain
// that path.
type venvCollector struct {
	asked   []string          // in the order in which the script numbers them
	fileOf  map[string]string // the file that requires each
	missing []missingPackage
}

// missingPackage is a package that the script left out.
type missingPackage struct {
	place           int // index in the list
	line, file, why string
	mayCome         bool // may be available later
}

var _ ecosystem.Noter = (*venvCollector)(nil)

// Place keeps an entry at its path. It removes links out of the environment, except to the system's Python.
func (c *venvCollector) Place(entry ecosystem.Entry) (ecosystem.Entry, bool) {
	if entry.Path == missingDir || strings.HasPrefix(entry.Path, missingDir+"/") {
		c.readMissing(path.Base(entry.Path))
		return ecosystem.Entry{}, false
	}
	ok := filepath.IsLocal(entry.Path) &&
		(entry.Link == "" || entry.Link == "lib" || strings.HasPrefix(entry.Link, "python") ||
			strings.HasPrefix(entry.Link, "/usr/bin/python"))
	return ecosystem.Entry{Path: path.Join(venv, entry.Path), Link: entry.Link}, ok
}

// readMissing parses the name of a file that the script wrote: a number, "later" or "never", and the
// reason.
func (c *venvCollector) readMissing(name string) {
	number, rest, _ := strings.Cut(name, "-")
	when, reason, _ := strings.Cut(rest, "-")
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= len(c.asked) {
		return
	}
	if reason, err = url.PathUnescape(reason); err != nil {
		reason = "it cannot be had"
	}
	line := c.asked[i]
	c.missing = append(
		c.missing, missingPackage{i, stripHashes(line), c.fileOf[stripHashes(line)], reason, when == "later"})
}

// maxMissing limits the missing packages that are named.
const maxMissing = 5

// Notes returns the packages that were left out and the remedy.
func (c *venvCollector) Notes() (out []string) {
	slices.SortFunc(c.missing, func(a, b missingPackage) int { return a.place - b.place })
	later := false
	for i, pkg := range c.missing {
		later = later || pkg.mayCome
		if i < maxMissing {
			out = append(out, fmt.Sprintf("%s of %s is not in the image: %s", pkg.line, pkg.file, pkg.why))
		}
	}
	if more := len(c.missing) - maxMissing; more > 0 {
		out = append(out, fmt.Sprintf("%d more Python packages are not in the image", more))
	}
	switch {
	case later:
		out = append(out, "what needs these Python packages stays red until they are there: `company image prune --all` "+
			"rebuilds the image")
	case len(out) > 0:
		out = append(out, "what needs these Python packages stays red, unless container.setup installs them: Debian's are "+
			"called python3-…")
	}
	return out
}

// Files returns nil.
func (c *venvCollector) Files() []ecosystem.ImageFile { return nil }
