package python

import (
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// wish is what a runner of environments, tox or nox, installs for the tests.
type wish struct {
	lines  []string // requirements
	lists  []string // files with requirements
	extras []string // of the project
	groups []string // of its dependencies
}

func (w *wish) addWish(o wish) {
	w.lines, w.lists = append(w.lines, o.lines...), append(w.lists, o.lists...)
	w.extras, w.groups = append(w.extras, o.extras...), append(w.groups, o.groups...)
}

// addArgument adds an argument as pip takes it.
func (w *wish) addArgument(line string) {
	switch {
	case strings.HasPrefix(line, "-r"):
		w.lists = append(w.lists, strings.TrimLeft(line[2:], " ="))
	case strings.HasPrefix(line, "--requirement"):
		w.lists = append(w.lists, strings.TrimLeft(line[len("--requirement"):], " ="))
	case ownFolderRE.MatchString(line):
		w.extras = append(w.extras, strings.FieldsFunc(ownFolderRE.FindStringSubmatch(line)[1], func(r rune) bool { return r == ',' || r == ' ' })...)
	case !strings.HasPrefix(line, "-"):
		w.lines = append(w.lines, line)
	}
}

// ownFolderRE is the project itself, among the arguments of pip.
var ownFolderRE = lazyregexp.New(`^(?:-e\s*|--editable[ =]\s*)?\.(?:\[([A-Za-z0-9._, -]*)\])?$`)

// environmentRun is what a runner of environments does for the tests.
type environmentRun struct {
	wish     wish
	commands []string          // as a shell takes them, without variables
	set      map[string]string // variables of the commands
	dir      string            // where they run, below the project
	file     string            // that says it
}

// requirementLines are the lines of a wish that name packages.
func (w wish) requirementLines() []string { return w.lines }

// toxNames are environments of tox that run the tests, the best first.
var toxNames = []string{"py311", "py3", "py", "test", "tests", "unit", "unittest", "unittests", "pytest", "py312", "py310", "py313", "py39", "py314", "py38"}

// toxFactors hold where a line of tox is for some environments alone.
var toxFactors = []string{"py311", "py3", "py", "py3.11", "test", "tests", "linux"}

// readToxFile reads a tox.ini. Nothing of it is run.
func readToxFile(text string) environmentRun {
	f := newToxFile(text)
	if f.sections["tox"] == nil && f.sections["testenv"] == nil {
		return environmentRun{}
	}
	section := f.chooseSection()
	value := func(key string) []string {
		v, ok := f.sections[section][key]
		if !ok {
			v = f.sections["testenv"][key]
		}
		return f.expandValue(v, keepForFactors)
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

// chooseSection is the section of the environment that runs the tests.
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

// toxProgramsRE is the folder of an environment's programs, which are on the PATH here.
var toxProgramsRE = lazyregexp.New(`\{env_?bin_?dir\}/`)

// Bounds of the references to other sections. A value may hold thousands, each to a value of
// thousands.
const (
	maxToxDepth = 4
	// minToxText is how many bytes of values are looked at in any file, each time that one is. A
	// larger file has twice its size.
	minToxText = 64 << 10
)

// toxFile is a tox.ini, as far as its values are looked at.
type toxFile struct {
	sections iniFile
	room     int // bytes of values that may still be looked at
}

func newToxFile(text string) *toxFile { return &toxFile{readINI(text), minToxText + 2*len(text)} }

// keepLine takes off a line for which environments it is, and says whether the line
// is wanted.
type keepLine func(line string) (rest string, wanted bool)

// expandValue returns the wanted lines of a value, with their references replaced. A line with
// an unknown reference is left out.
func (f *toxFile) expandValue(value string, keep keepLine) []string {
	return f.expandFrom(value, keep, 0)
}

// expandFrom is expandValue at a depth of references.
func (f *toxFile) expandFrom(value string, keep keepLine, depth int) (out []string) {
	if depth > maxToxDepth || len(value) > f.room {
		return nil
	}
	f.room -= len(value)
	for _, line := range splitLines(strings.ReplaceAll(value, "\\\n", " ")) {
		line, ok := keep(line)
		if !ok {
			continue
		}
		if m := toxReferenceRE.FindStringSubmatch(line); m != nil && m[0] == line && strings.HasPrefix(m[1], "[") {
			section, key, _ := strings.Cut(m[1][1:], "]")
			out = append(out, f.expandFrom(f.sections[section][strings.ToLower(key)], keep, depth+1)...)
			continue
		}
		known := true
		line = toxProgramsRE.ReplaceAllString(line, "")
		for range 3 { // a reference may hold another one
			line = toxReferenceRE.ReplaceAllStringFunc(line, func(ref string) string {
				text, ok := expandToxWord(ref[1 : len(ref)-1])
				known = known && ok
				return text
			})
		}
		if known && !strings.Contains(line, "{") {
			if line = strings.TrimSpace(line); line != "" {
				out = append(out, line)
			}
		}
	}
	return out
}

// expandToxWord gives the text that tox puts in the place of a name in braces.
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
	case "envtmpdir", "env_tmp_dir", "envdir", "env_dir", "envlogdir", "toxworkdir", "tox_workdir", "work_dir", "temp_dir", "homedir":
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

// keepForFactors takes off for which environments a line is, and says whether that
// is one of Debian's Python.
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

// keepForAll takes off for which environments a line is, and wants each.
func keepForAll(line string) (string, bool) {
	if m := toxConditionRE.FindStringSubmatch(line); m != nil {
		line = m[2]
	}
	return line, true
}

// readToxTable is what a pyproject.toml says to tox, in tox's own form or in that
// of a tox.ini.
func readToxTable(t map[string]any) wish { return readToxRun(t).wish }

// readToxRun reads the same with the commands.
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
	run := environmentRun{file: "pyproject.toml", set: map[string]string{}, commands: toxTableCommands(map[string]any{"commands": value("commands")})}
	for _, line := range textsOf(value("deps")) {
		run.wish.addArgument(line)
	}
	run.wish.extras, run.wish.groups = append(run.wish.extras, textsOf(value("extras"))...), append(run.wish.groups, textsOf(value("dependency_groups"))...)
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

// toxTableCommands are the commands of an environment, each a list of arguments.
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
