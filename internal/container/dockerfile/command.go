package dockerfile

import (
	"path"
	"slices"
	"strings"

	"company/internal/lib/safetext"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// addCommand translates an instruction.
func (t *translation) addCommand(c instructions.Command) error {
	line := firstLine(c.Location())
	env := t.stepEnv()
	if _, isArg := c.(*instructions.ArgCommand); !isArg {
		if x, ok := c.(instructions.SupportsSingleWordExpansion); ok {
			if err := x.Expand(func(word string) (string, error) { return t.expandWord(word, env) }); err != nil {
				return t.grammarError(parser.WithLocation(err, c.Location()))
			}
		}
		if x, ok := c.(instructions.SupportsSingleWordExpansionRaw); ok {
			if err := x.ExpandRaw(func(word string) (string, error) { return t.expand(word, '\\', true, env) }); err != nil {
				return t.grammarError(parser.WithLocation(err, c.Location()))
			}
		}
	}
	switch c := c.(type) {
	case *instructions.EnvCommand:
		for _, v := range c.Env {
			t.setEnv(v.Key, v.Value)
		}
	case *instructions.ArgCommand:
		return t.addArg(c)
	case *instructions.WorkdirCommand:
		t.dir = path.Join("/", joinDir(t.dir, c.Path))
		t.noteUnseen(line, "WORKDIR", t.dir)
		t.recipe.Steps = append(t.recipe.Steps, t.newStep(line, "WORKDIR "+t.dir, Step{Folder: t.dir}))
	case *instructions.UserCommand:
		t.user = c.User
		if u, _, _ := strings.Cut(c.User, ":"); u == "" || strings.ContainsAny(c.User, "\x00\n") ||
			strings.HasPrefix(u, "-") {
			return t.refuse(line, "USER has no user").Fix("write a name or a number, such as USER node")
		}
	case *instructions.ShellCommand:
		t.shell = c.Shell
	case *instructions.RunCommand:
		return t.addRun(c, line)
	case *instructions.CopyCommand:
		return t.addCopy(c, line)
	case *instructions.AddCommand:
		return t.addAdd(c, line)
	default: // CMD, ENTRYPOINT, EXPOSE, HEALTHCHECK, LABEL, MAINTAINER, ONBUILD, STOPSIGNAL, VOLUME
		if name := strings.ToUpper(c.Name()); !slices.Contains(t.ignored, name) {
			t.ignored = append(t.ignored, name)
		}
	}
	return nil
}

func joinDir(dir, to string) string {
	if path.IsAbs(to) {
		return to
	}
	return dir + "/" + to
}

// newStep sets the fields that all steps have.
func (t *translation) newStep(line int, text string, step Step) Step {
	step.Line = line
	step.Text = safetext.EscapeLine(text, 200)
	step.User = t.user
	step.Dir = t.dir
	env := t.stepEnv()
	for name, value := range env {
		if envNameRE.MatchString(name) {
			step.Env = append(step.Env, Variable{name, value})
		}
	}
	slices.SortFunc(step.Env, func(a, b Variable) int { return strings.Compare(a.Name, b.Name) })
	return step
}

// addArg declares arguments. A value from the build takes precedence over the default. An argument
// without either gets its value from above the first FROM, if there is one.
func (t *translation) addArg(c *instructions.ArgCommand) error {
	for _, a := range c.Args {
		name, err := t.expandWord(a.Key, t.stepEnv())
		if err != nil {
			return t.grammarError(parser.WithLocation(err, c.Location()))
		}
		if value, ok := t.Source.args[name]; ok {
			t.args[name] = value
			continue
		}
		if a.Value == nil {
			if value, ok := t.global[name]; ok {
				t.args[name] = value
			}
			continue
		}
		if t.args[name], err = t.expandWord(*a.Value, t.stepEnv()); err != nil {
			return t.grammarError(parser.WithLocation(err, c.Location()))
		}
	}
	return nil
}

// unseenDirs are folders that are fresh in every container, so that the image's files in them are not
// visible.
var unseenDirs = []string{"/work", "/home/agent", "/tmp"}

func (t *translation) noteUnseen(line int, what, dir string) {
	for _, hidden := range unseenDirs {
		if dir == hidden || strings.HasPrefix(dir, hidden+"/") {
			t.addNote("%s:%d: %s is in %s, which is empty in every container: use another folder",
				safetext.EscapeLine(t.Path, 100), line, what, hidden)
		}
	}
}

func (t *translation) addRun(c *instructions.RunCommand, line int) error {
	if err := t.checkRun(c, line); err != nil {
		return err
	}
	argv, script := slices.Clone(c.CmdLine), ""
	if len(c.Files) > 0 {
		if len(argv) != 1 || !c.PrependShell {
			return t.refuse(line, "RUN with a here-document is not supported").
				Fix("write the command without <<, or put the script into a file and COPY it")
		}
		first := c.Files[0]
		data := first.Data
		if first.Chomp {
			data = parser.ChompHeredocContent(data)
		}
		doc, err := parser.ParseHeredoc(argv[0])
		switch {
		case err == nil && doc != nil && strings.HasPrefix(data, "#!"):
			argv, script = []string{ScriptPath}, data
		case err == nil && doc != nil:
			argv = []string{data}
		default: // the shell reads them itself
			for _, f := range c.Files {
				argv[0] += "\n" + f.Data + f.Name
			}
		}
	}
	if c.PrependShell && script == "" {
		argv = append(slices.Clone(t.shell), argv...)
	}
	if len(argv) == 0 || slices.ContainsFunc(
		argv, func(a string) bool { return strings.Contains(a, "\x00") && a != ScriptPath }) {
		return t.refuse(line, "RUN has no command").Fix("write a command after RUN")
	}
	t.recipe.Steps = append(t.recipe.Steps, t.newStep(line, c.String(), Step{Run: &Run{Argv: argv, Script: script}}))
	return nil
}

// checkFlags refuses options of RUN that only some builds of the parser accept.
func (s Source) checkFlags(tree *parser.Node) error {
	for _, n := range tree.Children {
		for _, flag := range n.Flags {
			name, value, _ := strings.Cut(flag, "=")
			switch {
			case name == "--security" && value != "sandbox":
				return s.refuse(n.StartLine, strings.ToUpper(n.Value)+" "+flag+" is not supported").
					Because("steps only have the rights that package tools need").Fix("remove it")
			case name == "--device":
				return s.refuse(n.StartLine, strings.ToUpper(n.Value)+" "+flag+" is not supported").
					Because("containers have no devices").Fix("remove it")
			}
		}
	}
	return nil
}

// checkRun returns an error for a command that needs more than a step has. It accepts mounts of caches
// and temporary folders, which only make a command faster. The command runs without them.
func (t *translation) checkRun(c *instructions.RunCommand, line int) error {
	if n := instructions.GetNetwork(c); n == instructions.NetworkHost {
		return t.refuse(line, "RUN --network=host is not supported").
			Because("steps can only reach Debian's packages, by apt").
			Fix("remove it; put what the step downloads into the repository and COPY it, or install it with apt")
	}
	for _, m := range instructions.GetMounts(c) {
		switch m.Type {
		case instructions.MountTypeCache, instructions.MountTypeTmpfs:
		case instructions.MountTypeBind:
			return t.refuse(line, "RUN --mount=type=bind is not supported").Because("steps only see the image's folders").
				Fix("COPY what the step reads, and remove it in the same step if it is large")
		default:
			return t.refuse(line, "RUN --mount=type="+string(m.Type)+" is not supported").
				Because("no secret of the host gets into an image").
				Fix("remove it; use container.setup with container.setup_env for what needs the secret")
		}
	}
	return nil
}

func (t *translation) addAdd(c *instructions.AddCommand, line int) error {
	for _, src := range c.SourcePaths {
		if strings.Contains(src, "://") || strings.HasPrefix(src, "git@") {
			return t.refuse(line, "ADD of a URL is not supported: "+src).
				Because("steps can only reach Debian's packages, by apt").
				Fix("keep the file in the repository and COPY it, or install it with apt")
		}
		if c.Unpack == nil && isArchive(src) || c.Unpack != nil && *c.Unpack {
			return t.refuse(line, "ADD cannot unpack "+src).Because("ADD only copies files").
				Fix("use COPY, and RUN tar to unpack it")
		}
	}
	return t.placeFiles(c.SourcesAndDest, Copy{Owner: c.Chown, Mode: c.Chmod}, c.ExcludePatterns, line, c.String())
}

func isArchive(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst"},
		func(end string) bool { return strings.HasSuffix(name, end) })
}

func (t *translation) addCopy(c *instructions.CopyCommand, line int) error {
	if c.From != "" {
		return t.refuse(line, "COPY --from="+c.From+" is not supported").Because("only one stage is built, in one container").
			Fix("create the files in this stage; or set build.target in a devcontainer.json to a stage that " +
				"needs no other")
	}
	return t.placeFiles(c.SourcesAndDest, Copy{Owner: c.Chown, Mode: c.Chmod}, c.ExcludePatterns, line, c.String())
}
