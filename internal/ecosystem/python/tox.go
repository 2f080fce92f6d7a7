package python

import (
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// wish holds the packages that tox or nox installs for the tests.
type wish struct {
	lines  []string // requirements
	lists  []string // files with requirements
	extras []string // extras of the project
	groups []string // dependency groups of the project
}

func (w *wish) addWish(o wish) {
	w.lines, w.lists = append(w.lines, o.lines...), append(w.lists, o.lists...)
	w.extras, w.groups = append(w.extras, o.extras...), append(w.groups, o.groups...)
}

// addArgument adds an argument of pip install.
func (w *wish) addArgument(line string) {
	switch {
	case strings.HasPrefix(line, "-r"):
		w.lists = append(w.lists, strings.TrimLeft(line[2:], " ="))
	case strings.HasPrefix(line, "--requirement"):
		w.lists = append(w.lists, strings.TrimLeft(line[len("--requirement"):], " ="))
	case ownFolderRE.MatchString(line):
		w.extras = append(
			w.extras,
			strings.FieldsFunc(ownFolderRE.FindStringSubmatch(line)[1], func(r rune) bool { return r == ',' || r == ' ' })...)
	case !strings.HasPrefix(line, "-"):
		w.lines = append(w.lines, line)
	}
}

// ownFolderRE matches the project itself in the arguments of pip.
var ownFolderRE = lazyregexp.New(`^(?:-e\s*|--editable[ =]\s*)?\.(?:\[([A-Za-z0-9._, -]*)\])?$`)

// environmentRun holds the installations and commands with which a runner of environments tests a project.
type environmentRun struct {
	wish     wish
	commands []string          // in shell syntax, without variables
	set      map[string]string // variables of the commands
	dir      string            // working directory, relative to the project
	file     string            // the file that defines the run
}

// toxNames lists names of tox environments that run the tests, by priority.
var toxNames = []string{"py311", "py3", "py", "test", "tests", "unit", "unittest", "unittests", "pytest", "py312",
	"py310", "py313", "py39", "py314", "py38"}

// toxFactors lists the factors that are true here for lines of tox that apply to some environments only.
var toxFactors = []string{"py311", "py3", "py", "py3.11", "test", "tests", "linux"}

// readToxFile reads a tox.ini without running any of it.
func readToxFile(text string) environmentRun {
	toxFile := newToxFile(text)
	if toxFile.sections["tox"] == nil && toxFile.sections["testenv"] == nil {
		return environmentRun{}
	}
	section := toxFile.chooseSection()
	value := func(key string) []string {
		v, ok := toxFile.sections[section][key]
		if !ok {
			v = toxFile.sections["testenv"][key]
		}
		return toxFile.expandValue(v, keepForFactors)
	}
	run := environmentRun{file: "tox.ini", set: map[string]string{}}
	for _, line := range value("deps") {
		run.wish.addArgument(line)
	}
	for _, key := range []string{"extras", "dependency_groups"} {
		for _, line := range value(key) {
			names := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' })
			if key == "extras" {
				run.wish.extras = append(run.wish.extras, names...)
			} else {
				run.wish.groups = append(run.wish.groups, names...)
			}
		}
	}
	run.commands = value("commands")
	for _, key := range []string{"setenv", "set_env"} {
		for _, line := range value(key) {
			if k, v, ok := strings.Cut(line, "="); ok {
				run.set[strings.TrimSpace(k)] = strings.TrimSpace(v)
			}
		}
	}
	for _, key := range []string{"changedir", "change_dir"} {
		if v := value(key); len(v) == 1 {
			run.dir = path.Clean(v[0])
		}
	}
	return run
}

// chooseSection returns the section of the environment that runs the tests.
func (f *toxFile) chooseSection() string {
	if hasTestCommand(f.expandValue(f.sections["testenv"]["commands"], keepForFactors)) {
		return "testenv"
	}
	for _, name := range toxNames {
		if f.sections["testenv:"+name]["commands"] != "" {
			return "testenv:" + name
		}
	}
	for _, section := range slices.Sorted(maps.Keys(f.sections)) {
		name, ok := strings.CutPrefix(section, "testenv:")
		words := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-_{},", r) })
		isOther := slices.ContainsFunc(words, func(w string) bool { return slices.Contains(otherWords, w) })
		if ok && !isOther && hasTestCommand(f.expandValue(f.sections[section]["commands"], keepForFactors)) {
			return section
		}
	}
	return "testenv"
}

var toxReferenceRE = lazyregexp.New(`\{([^{}]*)\}`)

// toxProgramsRE matches the folder of an environment's programs, which are in PATH here.
var toxProgramsRE = lazyregexp.New(`\{env_?bin_?dir\}/`)

// Limits for references to other sections. A value may have thousands of references, each to a value with
// thousands.
const (
	maxToxDepth = 4
	// minToxText is the base of the limit for expanded text, in bytes. The limit is minToxText plus twice the
	// size of the file. Text that is expanded repeatedly counts each time.
	minToxText = 64 << 10
)

// toxFile expands values of a tox.ini.
type toxFile struct {
	sections iniFile
	room     int // bytes of values that may still be expanded
	isCut    bool
	// seen holds the references found so far, and referred the values that they refer to. If seen is nil, each
	// reference is replaced by its value instead.
	seen     map[string]bool
	referred []string
	unknown  string // a value with a skipped line, or one that tox reads differently
}

func newToxFile(text string) *toxFile {
	sections, _ := readINI(text)
	return &toxFile{sections: sections, room: minToxText + 2*len(text)}
}

// keepLine removes the condition of a line and reports whether the line is wanted.
type keepLine func(line string) (rest string, wanted bool)

// expandValue returns the wanted lines of a value, with their references replaced. It skips a line with an
// unknown reference.
func (f *toxFile) expandValue(value string, keep keepLine) []string {
	return f.expandFrom(value, keep, 0)
}

// expandFrom is expandValue with the current depth of references.
func (f *toxFile) expandFrom(value string, keep keepLine, depth int) (out []string) {
	if depth > maxToxDepth || len(value) > f.room {
		f.isCut = true
		return nil
	}
	f.room -= len(value)
	if strings.Contains(value, "\\") { // tox 4 joins continued lines without a blank, unlike the code below
		f.unknown = value
	}
	for _, line := range splitLines(strings.ReplaceAll(value, "\\\n", " ")) {
		line, ok := keep(line)
		if !ok {
			continue
		}
		if m := toxReferenceRE.FindStringSubmatch(line); m != nil && m[0] == line && strings.HasPrefix(m[1], "[") {
			section, key, _ := strings.Cut(m[1][1:], "]")
			referred, has := f.sections[section][strings.ToLower(key)]
			if !has {
				f.unknown = value
			}
			if f.seen == nil {
				out = append(out, f.expandFrom(referred, keep, depth+1)...)
			} else if !f.seen[m[0]] {
				f.seen[m[0]] = true
				f.referred = append(f.referred, referred)
			}
			continue
		}
		known := true
		line = toxProgramsRE.ReplaceAllString(line, "")
		for range 3 { // a reference may contain another one
			line = toxReferenceRE.ReplaceAllStringFunc(line, func(ref string) string {
				text, ok := expandToxWord(ref[1 : len(ref)-1])
				known = known && ok
				return text
			})
		}
		if !known || strings.Contains(line, "{") {
			f.unknown = value
			continue
		}
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// expandToxWord returns the text by which tox replaces a name in braces. It returns false for an unknown
// name.
func expandToxWord(word string) (string, bool) {
	name, rest, _ := strings.Cut(word, ":")
	switch name {
	case "posargs":
		return rest, true
	case "toxinidir", "tox_root", "changedir":
		return ".", true
	case "/":
		return "/", true
	case "":
		return ":", word == ":"
	case "envpython", "basepython", "env_python", "base_python":
		return "python3", true
	case "envtmpdir", "env_tmp_dir", "envdir", "env_dir", "envlogdir", "toxworkdir", "tox_workdir", "work_dir",
		"temp_dir", "homedir":
		return "/tmp", true
	case "envname", "env_name":
		return "py311", true
	case "env":
		_, value, _ := strings.Cut(rest, ":")
		return value, true
	}
	return "", false
}

var toxConditionRE = lazyregexp.New(`^([A-Za-z0-9!.,_-]+|[A-Za-z0-9!.,_{}-]+)\s*:\s+(.*)$`)

// keepForFactors removes the condition of a line and reports whether it applies to Debian's Python.
func keepForFactors(line string) (string, bool) {
	m := toxConditionRE.FindStringSubmatch(line)
	if m == nil {
		return line, true
	}
	for one := range strings.SplitSeq(m[1], ",") {
		all := true
		for factor := range strings.SplitSeq(strings.Trim(one, "{} "), "-") {
			name, not := strings.CutPrefix(factor, "!")
			all = all && slices.Contains(toxFactors, name) != not
		}
		if all {
			return m[2], true
		}
	}
	return "", false
}

// anyConditionRE matches the condition of a line in any spelling that tox accepts.
var anyConditionRE = lazyregexp.New(`^[^:]*:\s+`)

// keepForAll removes the condition of a line and keeps every line.
func keepForAll(line string) (string, bool) { return anyConditionRE.ReplaceAllString(line, ""), true }

// readToxTable reads the installations in a pyproject.toml for tox, in tox's own format or as the text of a
// tox.ini.
func readToxTable(t map[string]any) wish { return readToxRun(t).wish }

// readToxRun is like readToxTable and also reads the commands.
func readToxRun(t map[string]any) environmentRun {
	if text, ok := t["legacy_tox_ini"].(string); ok {
		run := readToxFile(text)
		run.file = "pyproject.toml"
		return run
	}
	base, _ := t["env_run_base"].(map[string]any)
	envs, _ := t["env"].(map[string]any)
	env := base
	if !hasTestCommand(toxTableCommands(base)) {
		for _, name := range append(slices.Clone(toxNames), "3.11") {
			if one, ok := envs[name].(map[string]any); ok && hasTestCommand(toxTableCommands(one)) {
				env = one
				break
			}
		}
	}
	value := func(key string) any {
		if v, ok := env[key]; ok {
			return v
		}
		return base[key]
	}
	run := environmentRun{file: "pyproject.toml", set: map[string]string{},
		commands: toxTableCommands(map[string]any{"commands": value("commands")})}
	for _, line := range textsOf(value("deps")) {
		run.wish.addArgument(line)
	}
	run.wish.extras, run.wish.groups = append(run.wish.extras, textsOf(value("extras"))...),
		append(run.wish.groups, textsOf(value("dependency_groups"))...)
	if set, ok := value("set_env").(map[string]any); ok {
		for k, v := range set {
			if s, ok := v.(string); ok {
				run.set[k] = s
			}
		}
	}
	if dir, ok := value("change_dir").(string); ok {
		run.dir = path.Clean(strings.TrimPrefix(strings.ReplaceAll(dir, "{tox_root}", "."), "./"))
	}
	return run
}

// toxTableCommands returns the commands of an environment, each joined from a list of arguments.
func toxTableCommands(env map[string]any) (out []string) {
	commands, _ := env["commands"].([]any)
	f := toxFile{room: ecosystem.MaxManifest}
	for _, c := range commands {
		words, _ := c.([]any)
		var line []string
		for _, w := range words {
			switch v := w.(type) {
			case string:
				line = append(line, quoteWord(v))
			case map[string]any: // { replace = "posargs", default = ["tests"] }
				for _, d := range textsOf(v["default"]) {
					line = append(line, quoteWord(d))
				}
			}
		}
		out = append(out, f.expandValue(strings.Join(line, " "), keepForFactors)...)
	}
	return out
}
