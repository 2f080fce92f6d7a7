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

// installScript runs pip in the build container, and leaves out what cannot be had.
//
//go:embed install.py
var installScript []byte

// missingDir is where the script names what it left out: a file for each.
const missingDir = ".missing"

// wheelsLayer is the layer of what lock files pin and lists name.
func (r *requirements) wheelsLayer() ecosystem.Install {
	from := strings.Join(uniqueStrings(r.from), ", ")
	failure := "the Python packages of " + from + " cannot be installed"
	fix := "check that `pip install --only-binary :all:` works with these files for Python " + debianVersion + " and `pip config get global.index-url` answers; or go on without them, with container.deps: off: what needs them stays red"
	text := func(lines []string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }
	return ecosystem.Install{
		Layer: "pip", Why: "the Python packages of " + from, What: from, Registry: ecosystem.PyPI, Remote: true, Locks: r.locks, Says: says,
		Inputs: slices.Concat(r.pins, []string{"lines"}, r.lines, []string{"constraints"}, r.constraints, []string{r.s.HashText(string(installScript))}),
		Stage: []ecosystem.StagedFile{
			{Path: "pins.txt", Text: text(r.pins)}, {Path: "requirements.txt", Text: text(r.lines)}, {Path: "constraints.txt", Text: text(r.constraints)}, {Path: "loose.txt", Text: text(r.loose)},
			{Path: "install.py", Text: installScript},
		},
		Steps: []ecosystem.Step{
			{Dir: ".", Command: "python3 -m venv --system-site-packages --without-pip " + venv, Progress: "making an environment for Python packages", Failure: failure, Fix: fix},
			{
				Dir: ".", Progress: "installing the Python packages of " + from, Failure: failure, Fix: fix,
				MayLack: len(r.pins) == 0 && r.areLoose(r.lines),
				Command: "python3 install.py " + venv + " " + missingDir,
				Env: map[string]string{
					"PIP_CONFIG_FILE": "/dev/null", "PIP_INDEX_URL": r.s.Places().Registry + "/pypi/simple/", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1",
					// The mirror beside it keeps the files that were fetched.
					"PIP_NO_CACHE_DIR": "1", "PIP_RETRIES": "0", "PIP_DEFAULT_TIMEOUT": strconv.Itoa(ecosystem.ClientPatience), "PIP_ROOT_USER_ACTION": "ignore",
				},
			},
			// Times of files in a layer mean nothing: compiled files must not be judged
			// by them. Python's processes share locks in /dev/shm.
			{Dir: ".", Command: venv + "/bin/python -m compileall -q -j $(test -w /dev/shm && echo 0 || echo 1) --invalidation-mode unchecked-hash " + venv + "/lib || true", Progress: "compiling the Python packages", Failure: failure, Fix: fix},
		},
		From: venv, Collector: func() ecosystem.Collector {
			return &venvCollector{asked: slices.Concat(r.pins, r.lines), fileOf: r.fileOf}
		},
		Env: ecosystem.Env{Set: map[string]string{"VIRTUAL_ENV": venv}, Path: venv + "/bin"},
	}
}

// areLoose reports whether a registry that is away holds none of the lines back.
func (r *requirements) areLoose(lines []string) bool {
	return !slices.ContainsFunc(lines, func(line string) bool { return !slices.Contains(r.loose, line) })
}

// venvCollector copies an environment to where it was made: it names its own place.
type venvCollector struct {
	asked   []string          // in the order in which the script counts them
	fileOf  map[string]string // that asks for each
	missing []missingPackage
}

// missingPackage is one that the script has left out.
type missingPackage struct {
	place           int // in the list
	line, file, why string
	mayCome         bool // at another time
}

var _ ecosystem.Noter = (*venvCollector)(nil)

// Place keeps an entry where it is, less links to elsewhere.
func (c *venvCollector) Place(e ecosystem.Entry) (ecosystem.Entry, bool) {
	if e.Path == missingDir || strings.HasPrefix(e.Path, missingDir+"/") {
		c.readMissing(path.Base(e.Path))
		return ecosystem.Entry{}, false
	}
	ok := filepath.IsLocal(e.Path) && (e.Link == "" || e.Link == "lib" || strings.HasPrefix(e.Link, "python") || strings.HasPrefix(e.Link, "/usr/bin/python"))
	return ecosystem.Entry{Path: path.Join(venv, e.Path), Link: e.Link}, ok
}

// readMissing reads a name that the script has made: number, "later" or "never",
// and why.
func (c *venvCollector) readMissing(name string) {
	number, rest, _ := strings.Cut(name, "-")
	when, why, _ := strings.Cut(rest, "-")
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= len(c.asked) {
		return
	}
	if why, err = url.PathUnescape(why); err != nil {
		why = "it cannot be had"
	}
	line := c.asked[i]
	c.missing = append(c.missing, missingPackage{i, stripHashes(line), c.fileOf[stripHashes(line)], why, when == "later"})
}

// maxMissing is how many missing packages are named.
const maxMissing = 5

// Notes name the packages that were left out, and the remedy.
func (c *venvCollector) Notes() (out []string) {
	slices.SortFunc(c.missing, func(a, b missingPackage) int { return a.place - b.place })
	later := false
	for i, m := range c.missing {
		later = later || m.mayCome
		if i < maxMissing {
			out = append(out, fmt.Sprintf("%s of %s is not in the image: %s", m.line, m.file, m.why))
		}
	}
	if more := len(c.missing) - maxMissing; more > 0 {
		out = append(out, fmt.Sprintf("%d more Python packages are not in the image", more))
	}
	switch {
	case later:
		out = append(out, "what needs these Python packages stays red until they are there: `company image prune --all` has the image made anew")
	case len(out) > 0:
		out = append(out, "what needs these Python packages stays red, unless container.setup installs them: Debian's are called python3-…")
	}
	return out
}

// Files are those that stand for missing packages.
func (c *venvCollector) Files() []ecosystem.ImageFile { return nil }
