package cli

import (
	"bytes"
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/cobra"

	"company/internal/surface/cli/command"
	"company/internal/surface/terminalio"
	"company/tools/handbook/generate"
)

// textOnly are the commands whose output is text with -o json, too: a document of
// its own, a protocol, screens, or help.
var textOnly = []string{"watch", "help", "completion", "config schema", "mcp"}

// leafCommands are the commands that do something, without their program's name.
func leafCommands(c *cobra.Command) (paths []string) {
	for _, sub := range c.Commands() {
		if sub.HasSubCommands() {
			paths = append(paths, leafCommands(sub)...)
		}
		if does := !sub.HasSubCommands() || len(sub.ValidArgs) > 0; does && !sub.Hidden {
			paths = append(paths, strings.TrimPrefix(sub.CommandPath(), "company "))
		}
	}
	return paths
}

// TestEveryCommandHasAShape: what a command prints with -o json is described, and what
// is described is a command.
func TestEveryCommandHasAShape(t *testing.T) {
	described := map[string]bool{}
	for _, s := range generate.Shapes() {
		for _, c := range s.Commands {
			described[c] = true
		}
	}
	paths := leafCommands(Tree())
	for _, path := range paths {
		if !described[path] && !slices.Contains(textOnly, path) {
			t.Errorf("company %s has no shape: add the type that it prints to Shapes in tools/handbook/generate/shape.go, "+
				"then make docs", path)
		}
	}
	for c := range described {
		bare, _, _ := strings.Cut(strings.NewReplacer(" <task>", "", " --", "\x00").Replace(c), "\x00")
		if !slices.Contains(paths, bare) && !strings.Contains(c, "stderr") {
			t.Errorf("tools/handbook/generate/shape.go describes %q, which is not a command", c)
		}
	}
}

// TestOutputHasItsSchema: what commands print with -o json, as objects on stdout and
// errors on stderr, is what the schema says, and holds no other field.
func TestOutputHasItsSchema(t *testing.T) {
	text, err := generate.OutputSchema("../../..", true)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("output.json", doc); err != nil {
		t.Fatal(err)
	}
	repo := t.TempDir()
	for _, args := range [][]string{{"init", "-q", "-b", "main"},
		{"-c", "user.name=p", "-c", "user.email=p@localhost", "commit", "-q", "--allow-empty", "-m", "first"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = repo
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	vars := map[string]string{"HOME": t.TempDir(), "PATH": "/usr/bin:/bin"}
	for _, x := range []struct{ args, shape string }{
		{"version", "version"},
		{"status", "overview"},
		{"agents", "agents"},
		{"budget show", "budgets"},
		{"project list", "projects"},
		{"pr list", "pull_requests"},
		{"stop", "stopped"},
		{"pause", "paused"},
		{"config show", "config"},
		{"config get workers", "config"},
		{"config check", "config_check"},
		{"config check --set workers.maxx=1", "config_check"},
		{"init --dry-run", "draft"},
		{"init", "draft"},
		{"trust --yes", "trust"},
		{"doctor", "doctor"},
		{"show t1", "error"},
		{"nothing", "error"},
	} {
		t.Run(x.args, func(t *testing.T) {
			schema, err := compiler.Compile("output.json#/$defs/" + x.shape)
			if err != nil {
				t.Fatal(err)
			}
			var out, errs bytes.Buffer
			env := command.NewEnvironment(
				terminalio.Console{In: strings.NewReader(""), Out: &out, Err: &errs, LookupEnv: func(name string) (string, bool) {
					v, ok := vars[name]
					return v, ok
				}})
			execute(context.WithoutCancel(t.Context()), env, append(strings.Fields(x.args), "-o", "json", "-R", repo))
			printed := out.String()
			if x.shape == "error" {
				printed = errs.String()
			}
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(printed))
			if err != nil {
				t.Fatalf("%v: %s%s", err, printed, errs.String())
			}
			if err := schema.Validate(v); err != nil {
				t.Errorf("%v\n%s", err, printed)
			}
		})
	}
}
