package dockerfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/lib/lazyregexp"
	"company/internal/lib/safetext"
)

// devcontainer is the description of the image in a devcontainer.json.
type devcontainer struct {
	dockerfile string // path in the repository; empty if image is set
	image      string
	imageLine  int
	context    string
	args       map[string]string
	target     string
	env        []Variable
	notes      []string
}

// field is a member of a JSON object.
type field struct {
	value json.RawMessage
	line  int
}

// isSet reports whether the value is not empty, null or false.
func (f field) isSet() bool {
	return !slices.Contains([]string{"", "null", "false", `""`, "[]", "{}"},
		string(bytes.Join(bytes.Fields(f.value), nil)))
}

// refusedKeys lists the keys that ask for more than the policy of containers allows, with the reason
// and the fix.
var refusedKeys = []struct{ key, why, fix string }{
	{"privileged", "containers only have the rights that the work needs", "remove it"},
	{"capAdd", "containers only have the rights that the work needs", "remove it"},
	{"securityOpt", "containers only have the rights that the work needs", "remove it"},
	{"runArgs", "they are options of docker run, and the company alone decides those", "remove them"},
	{"mounts", "containers see no folder of the host", "remove them"},
	{"workspaceMount", "containers see no folder of the host", "remove it"},
	{"initializeCommand", "it would run on the host", "remove it, or do the same with RUN in a Dockerfile"},
	{"dockerComposeFile", "several containers are not started for one task",
		"name the Dockerfile of the service itself, and its databases with gates.services"},
}

// lifecycleKeys are commands that would run after the container was created.
var lifecycleKeys = []string{"onCreateCommand", "updateContentCommand", "postCreateCommand", "postStartCommand",
	"postAttachCommand"}

// parseDevcontainer parses a devcontainer.json.
func parseDevcontainer(text Text) (devcontainer, error) {
	fields, err := readFields(text)
	if err != nil {
		return devcontainer{}, err
	}
	for _, r := range refusedKeys {
		if f := fields[r.key]; f.isSet() {
			return devcontainer{}, refuseLine(text.Path, f.line, r.key+" is not supported").Because(r.why).
				Fix(r.fix + "; or set container.dockerfile to a Dockerfile")
		}
	}
	d := devcontainer{args: map[string]string{}}
	if err := d.readBuild(text, fields); err != nil {
		return devcontainer{}, err
	}
	if err := d.readEnv(text, fields["containerEnv"]); err != nil {
		return devcontainer{}, err
	}
	d.noteLeftOut(text, fields)
	return d, nil
}

// readFields returns the members of the outermost object with their lines.
func readFields(t Text) (map[string]field, error) {
	text := blankComments(t.Data)
	bad := func(at int64, err error) error {
		line := 1 + bytes.Count(text[:min(int(at), len(text))], []byte("\n"))
		return refuseLine(t.Path, line, "this is not JSON with comments").Because(err.Error()).
			Fix("fix the file, and commit it")
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, bad(decoder.InputOffset(), fmt.Errorf("want an object"))
	}
	out := map[string]field{}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, bad(decoder.InputOffset(), err)
		}
		line := 1 + bytes.Count(text[:decoder.InputOffset()], []byte("\n"))
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, bad(decoder.InputOffset(), err)
		}
		if name, ok := key.(string); ok {
			out[name] = field{value, line}
		}
	}
	if _, err := decoder.Token(); err != nil {
		return nil, bad(decoder.InputOffset(), err)
	}
	return out, nil
}

// readBuild reads the image, or the Dockerfile and its build settings.
func (d *devcontainer) readBuild(text Text, fields map[string]field) error {
	var build struct {
		Dockerfile, Context, Target string
		Args                        map[string]string
		Options                     []string
	}
	var legacy struct{ dockerfile, context string }
	for _, one := range []struct {
		key string
		to  any
	}{{"build", &build}, {"image", &d.image}, {"dockerFile", &legacy.dockerfile}, {"context", &legacy.context}} {
		if f := fields[one.key]; f.isSet() && json.Unmarshal(f.value, one.to) != nil {
			return refuseLine(text.Path, f.line, "invalid "+one.key).
				Fix("see the reference of devcontainer.json, and fix the file")
		}
	}
	if len(build.Options) > 0 {
		return refuseLine(text.Path, fields["build"].line, "build.options is not supported").
			Because("they are options of docker build, which is not used").Fix("remove them")
	}
	folder := path.Dir(text.Path)
	if build.Dockerfile == "" {
		build.Dockerfile, build.Context = legacy.dockerfile, legacy.context
	}
	if build.Dockerfile == "" {
		if d.imageLine = fields["image"].line; d.image == "" {
			return refuseLine(text.Path, 1, "no image is given").Because("image, build.dockerfile and dockerFile are missing").
				Fix("add one of them, or set container.dockerfile to a Dockerfile")
		}
		if !referenceRE.MatchString(d.image) {
			return refuseLine(text.Path, d.imageLine, fmt.Sprintf("invalid image name %q", d.image)).
				Fix("write image as name:tag, or better name@sha256:<64 hex digits>")
		}
		return nil
	}
	d.image = ""
	line := max(fields["build"].line, fields["dockerFile"].line)
	d.dockerfile, d.context = path.Join(folder, build.Dockerfile), path.Join(folder, build.Context)
	for _, p := range []string{d.dockerfile, d.context} {
		if path.IsAbs(p) || p == ".." || strings.HasPrefix(p, "../") {
			return refuseLine(text.Path, line, "the build uses paths outside of the repository").
				Fix("use paths of the repository, relative to " + safetext.EscapeLine(text.Path, 100))
		}
	}
	if d.context == "." {
		d.context = ""
	}
	d.target = build.Target
	for _, name := range slices.Sorted(maps.Keys(build.Args)) {
		if value, ok := d.expandValue(build.Args[name], "build.args."+name); ok {
			d.args[name] = value
		}
	}
	return nil
}

// containerVariableRE matches a reference to a variable of the image. hostVariableRE
// matches any reference, such as one to a variable of the host.
var (
	containerVariableRE = lazyregexp.New(`\$\{containerEnv:([A-Za-z_][A-Za-z0-9_]*)\}`)
	hostVariableRE      = lazyregexp.New(`\$\{[A-Za-z]+(:[^}]*)?\}`)
)

// expandValue returns a value, or false if the value depends on the host. It then adds a note.
func (d *devcontainer) expandValue(value, key string) (string, bool) {
	if hostVariableRE.MatchString(containerVariableRE.ReplaceAllString(value, "")) {
		d.notes = append(d.notes, safetext.EscapeLine(key, 100)+
			" is left out: its value is of the host that a devcontainer runs on")
		return "", false
	}
	return value, true
}

func (d *devcontainer) readEnv(text Text, f field) error {
	if !f.isSet() {
		return nil
	}
	var env map[string]*string
	if json.Unmarshal(f.value, &env) != nil {
		return refuseLine(text.Path, f.line, "containerEnv must be an object of strings").
			Fix("see the reference of devcontainer.json, and fix the file")
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if env[name] == nil {
			continue
		}
		if value, ok := d.expandValue(*env[name], "containerEnv."+name); ok {
			d.env = append(d.env, Variable{name, value})
		}
	}
	return nil
}

// noteLeftOut notes the parts of a devcontainer that the image will not have.
func (d *devcontainer) noteLeftOut(text Text, fields map[string]field) {
	var features map[string]json.RawMessage
	if f := fields["features"]; f.isSet() && json.Unmarshal(f.value, &features) == nil {
		names := slices.Sorted(maps.Keys(features))
		d.notes = append(d.notes, fmt.Sprintf("features of %s are not built (%s): what they bring belongs into the "+
			"Dockerfile or container.setup",
			safetext.EscapeLine(text.Path, 100), safetext.EscapeLine(strings.Join(names, ", "), 200)))
	}
	var commands []string
	for _, key := range lifecycleKeys {
		if fields[key].isSet() {
			commands = append(commands, key)
		}
	}
	if len(commands) > 0 {
		d.notes = append(d.notes, fmt.Sprintf("%s of %s are not run: dependencies come from the lock files, other programs "+
			"belong into the Dockerfile or container.setup",
			strings.Join(commands, ", "), safetext.EscapeLine(text.Path, 100)))
	}
}
