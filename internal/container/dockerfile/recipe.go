package dockerfile

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/lib/boundedparse/docker"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/safetext"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// Base holds the settings of the base image on which steps depend.
type Base struct {
	Env   []string // KEY=value
	User  string   // empty means root
	Dir   string   // empty means /
	Shell []string // empty means /bin/sh -c
}

// Recipe describes the steps to build an image.
type Recipe struct {
	From  string     // the image to start from: a name with a tag or a digest
	Line  int        // line of From
	Steps []Step     // in order
	Env   []Variable // variables of the image, in addition to its base's
	Notes []string   // messages for people
}

// Step is one instruction. Exactly one of Run, Copy and Folder is set.
type Step struct {
	Line   int
	Text   string // the instruction, for people
	Run    *Run
	Copy   *Copy
	Folder string // folder to create, including its parents

	Env  []Variable // environment of the command, sorted by name
	User string     // name or number, optionally with a group; empty means root
	Dir  string     // where the command runs, absolute
}

// Run is a command.
type Run struct {
	Argv   []string
	Script string // text of the program for which ScriptPath stands in Argv; may be empty
}

// ScriptPath is a placeholder in Run.Argv for the path of Run.Script.
const ScriptPath = "\x00script"

// referenceRE matches the name of an image: with a tag, with a digest, or with neither.
var referenceRE = lazyregexp.New(`^[a-z0-9][a-zA-Z0-9._/:-]{0,254}(@sha256:[0-9a-f]{64})?$`)

// IsPinned reports whether the name of an image always refers to the same image.
func IsPinned(reference string) bool { return strings.Contains(reference, "@sha256:") }

// translation is the state of translating a Source into a Recipe.
type translation struct {
	Source
	recipe  Recipe
	escape  rune
	env     map[string]string // set by ENV or by the base
	changed []string          // names set by ENV, in order
	args    map[string]string // set by ARG
	global  map[string]string // set by ARG above the first FROM
	user    string
	dir     string
	shell   []string
	files   fileSet
	ignored []string // instructions without an effect here

	expanded   int // bytes of expanded arguments
	copyBudget int // remaining budget for matching files against patterns
}

// Translate translates a description into a recipe for a base. files are the files of the commit.
// ignore lists the files that COPY omits.
func (s Source) Translate(base Base, files []File, ignore []byte) (recipe Recipe, err error) {
	err = company.Guard("reading "+safetext.EscapeLine(s.file.Path, 100), func() error {
		recipe, err = s.translate(base, files, ignore)
		return err
	})
	return recipe, err
}

func (s Source) translate(base Base, files []File, ignore []byte) (Recipe, error) {
	if err := s.checkSyntax(); err != nil {
		return Recipe{}, err
	}
	tree, err := docker.Parse(s.file.Data)
	if err != nil {
		return Recipe{}, s.grammarError(err)
	}
	if err := s.checkFlags(tree.AST); err != nil {
		return Recipe{}, err
	}
	stages, global, err := instructions.Parse(tree.AST, nil)
	if err != nil {
		return Recipe{}, s.grammarError(err)
	}
	t := &translation{Source: s, escape: tree.EscapeToken, env: map[string]string{}, args: map[string]string{},
		global: platformArgs(),
		user:   base.User, dir: base.Dir, shell: base.Shell, copyBudget: copySteps}
	if t.files, err = selectFiles(files, s.context, ignore, &t.copyBudget); err != nil {
		return Recipe{}, err
	}
	for _, e := range base.Env {
		name, value, _ := strings.Cut(e, "=")
		t.env[name] = value
	}
	if t.dir == "" {
		t.dir = "/"
	}
	if len(t.shell) == 0 {
		t.shell = []string{"/bin/sh", "-c"}
	}
	t.recipe.Notes = slices.Clone(s.notes)
	if err := t.readGlobalArgs(global); err != nil {
		return Recipe{}, err
	}
	chain, err := t.chainStages(stages)
	if err != nil {
		return Recipe{}, err
	}
	for _, v := range s.env { // variables of a devcontainer also apply to the steps
		t.setEnv(v.Name, t.expandContainerEnv(v.Value))
	}
	for _, stage := range chain {
		t.args = map[string]string{} // the scope of ARG is its stage
		for _, c := range stage.Commands {
			if err := t.addCommand(c); err != nil {
				return Recipe{}, err
			}
		}
	}
	t.finishEnv()
	t.noteIgnored()
	return t.recipe, nil
}

// checkSyntax refuses files that are not in Docker's own syntax.
func (s Source) checkSyntax() error {
	name, _, at, ok := parser.DetectSyntax(s.file.Data)
	if !ok {
		return nil
	}
	plain, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(name, "docker.io/"), "docker/"), "@")
	plain, _, _ = strings.Cut(plain, ":")
	if plain == "dockerfile" || plain == "dockerfile-upstream" {
		return nil
	}
	line := 1
	if len(at) > 0 {
		line = at[0].Start.Line
	}
	return s.refuse(line, "# syntax="+name+" is not supported").
		Because("it names a program that would translate the file").
		Fix("use Docker's own syntax (docker/dockerfile:1), or remove the line")
}

// grammarError adds the line to an error of the parser.
func (s Source) grammarError(err error) error {
	line := 1
	var at *parser.LocationError
	if errors.As(err, &at) {
		for _, ranges := range at.Locations {
			for _, r := range ranges {
				line = max(line, r.Start.Line)
				break
			}
		}
	}
	return s.refuse(line, "cannot parse the Dockerfile").Because(safetext.EscapeLine(err.Error(), 200)).
		Fix("fix the line, and commit the file")
}

// platformArgs returns the arguments that are predefined in every Dockerfile.
func platformArgs() map[string]string {
	platform := "linux/" + runtime.GOARCH
	out := map[string]string{}
	for _, side := range []string{"TARGET", "BUILD"} {
		out[side+"PLATFORM"] = platform
		out[side+"OS"] = "linux"
		out[side+"ARCH"] = runtime.GOARCH
		out[side+"VARIANT"] = ""
	}
	return out
}

func (t *translation) readGlobalArgs(global []instructions.ArgCommand) error {
	for i := range global {
		c := &global[i]
		if err := c.Expand(func(word string) (string, error) { return t.expandWord(word, t.global) }); err != nil {
			return t.grammarError(parser.WithLocation(err, c.Location()))
		}
		for _, a := range c.Args {
			if value, ok := t.Source.args[a.Key]; ok {
				t.global[a.Key] = value
			} else if a.Value != nil {
				t.global[a.Key] = *a.Value
			}
		}
	}
	return nil
}

// chainStages returns the stages from which the last one, or the target, is built. Each stage starts
// from the result of the one before.
func (t *translation) chainStages(stages []instructions.Stage) ([]instructions.Stage, error) {
	last := len(stages) - 1
	if t.target != "" {
		index, ok := instructions.HasStage(stages, t.target)
		if !ok {
			return nil, t.refuse(1, fmt.Sprintf("unknown stage %q", t.target)).
				Fix("set build.target to a stage of the Dockerfile")
		}
		last = index
	}
	var chain []instructions.Stage
	for last >= 0 {
		stage := stages[last]
		line := firstLine(stage.Location)
		from, err := t.expandWord(stage.BaseName, t.global)
		if err != nil {
			return nil, t.refuse(line, "cannot expand FROM").Because(err.Error()).Fix("write the image's name without variables")
		}
		if err := t.checkPlatform(stage, line); err != nil {
			return nil, err
		}
		chain = append(chain, stage)
		index, ok := instructions.HasStage(stages[:last], from)
		if ok {
			last = index
			continue
		}
		switch {
		case from == "scratch":
			return nil, t.refuse(line, "FROM scratch is not supported").Because("workers need a shell and git").
				Fix("start from an image with an operating system, such as debian:12")
		case !referenceRE.MatchString(from):
			return nil, t.refuse(line, fmt.Sprintf("invalid image name %q", from)).
				Fix("write FROM name:tag, or better FROM name@sha256:<64 hex digits>; an ARG in it needs a default")
		}
		t.recipe.From, t.recipe.Line = from, line
		if t.line > 0 {
			t.recipe.Line = t.line
		}
		break
	}
	slices.Reverse(chain)
	return chain, nil
}

func (t *translation) checkPlatform(stage instructions.Stage, line int) error {
	platform, err := t.expandWord(stage.Platform, t.global)
	if own := "linux/" + runtime.GOARCH; err != nil ||
		platform != "" && platform != own && !strings.HasPrefix(platform, own+"/") {
		return t.refuse(line, "FROM --platform="+platform+" does not match this machine").
			Because("images are built for " + own + " here").Fix("remove --platform, or write --platform=$TARGETPLATFORM")
	}
	return nil
}

func firstLine(at []parser.Range) int {
	if len(at) == 0 {
		return 1
	}
	return at[0].Start.Line
}

// Limits of a translation. They are needed because a variable may contain several others.
const (
	maxVariables = 1000
	maxExpanded  = 16 << 20 // bytes of all arguments with their variables expanded
)

// expandWord expands the variables of a text and removes its quotes.
func (t *translation) expandWord(word string, env map[string]string) (string, error) {
	return t.expand(word, t.escape, false, env)
}

func (t *translation) expand(word string, escape rune, keepQuotes bool, env map[string]string) (string, error) {
	if len(env) > maxVariables {
		return "", fmt.Errorf("there are more than %d variables", maxVariables)
	}
	out, err := docker.ExpandWord(word, escape, keepQuotes, env)
	if t.expanded += len(out); t.expanded > maxExpanded {
		return "", errors.New("the values of the variables are too long")
	}
	return out, err
}

// stepEnv returns the variables that an instruction sees. ENV takes precedence over ARG.
func (t *translation) stepEnv() map[string]string {
	out := map[string]string{}
	for name, value := range t.args {
		out[name] = value
	}
	for name, value := range t.env {
		out[name] = value
	}
	return out
}

func (t *translation) setEnv(name, value string) {
	t.env[name] = value
	if !slices.Contains(t.changed, name) {
		t.changed = append(t.changed, name)
	}
}

// expandContainerEnv expands references to variables of the image in a devcontainer's value.
func (t *translation) expandContainerEnv(value string) string {
	return containerVariableRE.ReplaceAllStringFunc(value, func(word string) string {
		return t.env[containerVariableRE.FindStringSubmatch(word)[1]]
	})
}

// maxVariable limits the value of a variable that is passed to workers, in bytes.
const maxVariable = 4096

var (
	envNameRE = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	// ownEnvRE matches the variables of the company's own containers.
	ownEnvRE = lazyregexp.New(`^(HOME|HOSTNAME|PWD|SHLVL|_|TOOLBOX_.*|COMPANY_.*)$`)
)

// finishEnv keeps the variables that can be passed to workers, and notes the others.
func (t *translation) finishEnv() {
	var left []string
	for _, name := range t.changed {
		value := t.env[name]
		plain := envNameRE.MatchString(name) && len(value) <= maxVariable &&
			!strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f })
		if !plain || ownEnvRE.MatchString(name) {
			left = append(left, safetext.EscapeLine(name, 60))
			continue
		}
		t.recipe.Env = append(t.recipe.Env, Variable{name, value})
	}
	if len(left) > 0 {
		t.addNote("%s of %s: workers do not get it (their own, or not one line of text)", strings.Join(left, ", "),
			safetext.EscapeLine(t.Path, 100))
	}
}

func (t *translation) addNote(format string, args ...any) {
	t.recipe.Notes = append(t.recipe.Notes, fmt.Sprintf(format, args...))
}

// noteIgnored notes the instructions that have no effect, because they configure a start that workers
// and checks do not use.
func (t *translation) noteIgnored() {
	if len(t.ignored) > 0 {
		t.addNote("%s of %s: without effect on workers and checks", strings.Join(t.ignored, ", "),
			safetext.EscapeLine(t.Path, 100))
	}
}
