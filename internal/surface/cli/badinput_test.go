package cli

import (
	"bytes"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/internal/office/config"
	"company/internal/surface/cli/command"
	"company/internal/surface/terminalio"
)

// wrongInput is one kind of bad input: the fault, where, and the first words
// that a person reads about it.
type wrongInput struct {
	line   string // as the design's list has it
	config string // of the user's own; "" for none
	prep   func(t *testing.T, repo string)
	stdin  string
	args   []string
	exit   int
	code   company.Code
	says   string // in the message: the field, or what is wrong
	fix    string
	docker bool // it gets as far as to ask Docker, which is not what is wrong
}

var submitX = []string{"submit", "--no-input", "x"}

// shellPrep prepares a repository with git.
func shellPrep(script string) func(*testing.T, string) {
	return func(t *testing.T, repo string) {
		t.Helper()
		cmd := exec.Command("sh", "-ec", script)
		cmd.Dir = repo
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}

var wrongInputs = []wrongInput{
	// Config.
	{line: "config: missing", args: []string{"status", "--office", "../empty"}, prep: shellPrep("mkdir ../empty"), exit: 1,
		code: company.EConfig, says: "--office names a folder that is not an office", fix: "name the folder of a company.yaml"},
	{line: "config: empty", config: "\n", args: submitX, exit: 1, code: company.EConfig,
		says: "config.yaml:1:1: the file is empty", fix: "write version: 1"},
	{line: "config: bad syntax (line)", config: "version: 1\nworkers: {max: 3\n", args: submitX, exit: 1,
		code: company.EConfig, says: "config.yaml:2:", fix: "close each bracket that is opened up to line 2"},
	{line: "config: unknown key", config: "wrokers: {max: 3}\n", args: submitX, exit: 1, code: company.EConfig,
		says: "unknown key wrokers", fix: "did you mean workers?"},
	{line: "config: wrong type", config: "workers: {max: many}\n", args: submitX, exit: 1, code: company.EConfig,
		says: `workers.max is not what is needed, found "many"`, fix: "a whole number"},
	{line: "config: negative", config: "workers: {max: -3}\n", args: submitX, exit: 1, code: company.EConfig,
		says: "workers.max is negative, found -3", fix: "allowed"},
	{line: "config: overflow", config: "workers: {max: 99999999999999999999}\n", args: submitX, exit: 1,
		code: company.EConfig, says: "workers.max is too large", fix: "allowed"},
	{line: "config: duplicate worker", config: "agents:\n  worker: {max_turns: 3}\n  worker: {max_turns: 4}\n",
		args: submitX, exit: 1, code: company.EConfig, says: "config.yaml:3:3: duplicate key worker (first at 2:3)",
		fix: "keep one of them"},
	{line: "config: unpinned image", config: "container: {image: 'debian:12'}\n", args: submitX, exit: 1,
		code: company.EConfig, says: `container.image is not pinned by digest, found "debian:12"`, fix: "name@sha256:"},
	{line: "config: world-readable key", config: "git: {credential: deploy_key, deploy_key_file: /dev/null}\n",
		args: submitX, exit: 1, code: company.EConfig, says: "git.deploy_key_file is not a file", fix: "chmod 600 /dev/null"},
	{line: "config: main as target", config: "git: {integration_branch: main}\n", args: submitX, exit: 1,
		code: company.EProtected, says: "git.integration_branch must never be main or master", fix: "such as develop"},
	{line: "config: a bus that is not there", config: "bus: {driver: redis}\n", args: submitX, exit: 1,
		code: company.EConfig, says: `bus.driver is not one of the words allowed, found "redis"`, fix: "allowed: nats, file"},
	{line: "config: a key that is not there", config: "container: {egress: [example.com]}\n", args: submitX, exit: 1,
		code: company.EConfig, says: "unknown key container.egress", fix: "allowed: image"},
	{line: "config: not UTF-8", config: "version: \xff\n", args: submitX, exit: 1, code: company.EConfig,
		says: "config.yaml:1:10: a byte that is not UTF-8", fix: "plain UTF-8"},
	{line: "config: a flag", args: []string{"submit", "--set", "workers.mx=3", "x"}, exit: 1, code: company.EConfig,
		says: "flag workers.mx: unknown key", fix: "did you mean workers.max?"},
	{line: "config: a key in it", config: "models: {default: {adapter: openai, model: m, api_key: sk-1}}\n", args: submitX,
		exit: 1, code: company.EConfig, says: "unknown key models.default.api_key",
		fix: "a key stands in no file: take this line out, write api_key_env with the name of a variable"},
	{line: "config: an open brace", config: "models:\n  default: {adapter: openai\nbudget: {usd: 5}\n", args: submitX, exit: 1,
		code: company.EConfig, says: "config.yaml:3:1: bad syntax", fix: "close each bracket that is opened up to line 3"},
	{line: "config: a tab", config: "version: 1\nbudget:\n\tusd: 5\n", args: submitX, exit: 1, code: company.EConfig,
		says: "config.yaml:3:1: bad syntax", fix: "indent with blanks: line 3 has a tab"},
	{line: "config: of a newer company", config: "version: 2\n", args: submitX, exit: 1, code: company.EConfig,
		says: "version is that of a newer company", fix: "update company"},

	// CLI.
	{line: "cli: a number in letters", args: []string{"submit", "--budget-usd", "five", "x"}, exit: 64,
		code: company.EUsage, says: `invalid value "five" for --budget-usd: must be a number such as 2.50`, fix: "company submit --help"},
	{line: "cli: two ways", args: []string{"submit", "--one", "--split", "x"}, exit: 64, code: company.EUsage,
		says: "--one, --split and --set plan.way cannot be combined", fix: "use one of them"},
	{line: "cli: an unknown shell", args: []string{"completion", "nosh"}, exit: 64, code: company.EUsage,
		says: `unknown argument "nosh" for company completion`, fix: "company completion --help"},
	{line: "cli: an answer without words", args: []string{"answer", "a1"}, exit: 64, code: company.EUsage,
		says: "missing argument for company answer", fix: "company answer --help"},
	{line: "cli: a folder that is not there", args: []string{"status", "--repo", "/nowhere"}, exit: 1,
		code: company.ENotFound, says: "there is no folder /nowhere", fix: "name one that exists with --repo"},
	{line: "cli: unknown flag", args: []string{"submit", "--dry-rn", "x"}, exit: 64, code: company.EUsage,
		says: "unknown flag: --dry-rn", fix: "did you mean --dry-run?"},
	{line: "cli: unknown flag, its first word is wrong", args: []string{"submit", "--budgt", "5"}, exit: 64,
		code: company.EUsage, says: "unknown flag: --budgt", fix: "did you mean --budget"},
	{line: "cli: an argument is missing", args: []string{"pr", "show"}, exit: 64, code: company.EUsage,
		says: "missing argument for company pr show", fix: "company pr show --help"},
	{line: "cli: a key of config show", args: []string{"config", "show", "workers.max"}, exit: 64, code: company.EUsage,
		says: `unexpected argument "workers.max" for company config show`, fix: "company config get workers.max"},
	{line: "cli: no such key", args: []string{"config", "get", "worker.max"}, exit: 1, code: company.ENotFound,
		says: "unknown key worker.max", fix: "did you mean workers.max?"},
	{line: "cli: unknown flag, one letter", args: []string{"status", "-z"}, exit: 64, code: company.EUsage,
		says: "unknown shorthand flag: 'z'", fix: "company status --help"},
	{line: "cli: unknown command", args: []string{"sumbit", "x"}, exit: 64, code: company.EUsage,
		says: `unknown command "sumbit"`, fix: "company submit"},
	{line: "cli: no repo", args: []string{"submit", "--repo", "/", "x"}, exit: 1, code: company.ENotFound,
		says: "no git repository", fix: "go to a git repository"},
	{line: "cli: an argument of mcp", args: []string{"mcp", "here"}, exit: 64, code: company.EUsage, says: `"here"`,
		fix: "company mcp --help"},
	{line: "cli: empty goal", args: []string{"submit", " \n\t"}, exit: 64, code: company.EUsage,
		says: "the instruction is empty", fix: "say what to do"},
	{line: "cli: 1 MiB goal", stdin: strings.Repeat("x", 1<<20), args: []string{"submit", "-f", "-"}, exit: 1,
		code: company.EInvalid, says: "the instruction is longer than 256 KiB", fix: "a file of the repository"},
	{line: "cli: binary goal", stdin: "\x7fELF\x00\xff\xfe", args: []string{"submit", "-f", "-"}, exit: 1,
		code: company.EInvalid, says: "the instruction is not text", fix: "iconv -f ENCODING -t UTF-8 FILE | company submit -"},
	{line: "cli: unknown run", args: []string{"logs", "t9-01.1"}, exit: 1, code: company.ENotFound,
		says: "there is no task t9", fix: "company submit"},
	{line: "cli: what is not an id", args: []string{"show", "t1-"}, exit: 64, code: company.EUsage, says: `invalid id "t1-"`,
		fix: "ids look like t12"},
	{line: "cli: ambiguous id", args: []string{"cancel", "1"}, exit: 64, code: company.EUsage, says: `invalid task id "1"`,
		fix: "task ids look like t12"},

	// Repositories.
	{line: "repos: empty/unborn", prep: shellPrep("rm -rf .git && git init -q -b main ."), args: submitX, exit: 1,
		code: company.EGit, says: "has no commit yet", fix: "commit first: git add -A && git commit --allow-empty",
		docker: true},
	{line: "repos: shallow without a remote",
		prep: shellPrep("git commit -q --allow-empty -m 2; git clone -q --depth 1 file://$PWD ../deep; rm -rf .git; mv " +
			"../deep/.git .; git remote remove origin"), args: submitX, exit: 1, code: company.EGit, says: "shallow",
		fix: "git fetch --unshallow", docker: true},
	{line: "repos: partial",
		prep: shellPrep("git config remote.origin.url https://example.com/x; git config remote.origin.promisor true"),
		args: submitX, exit: 1, code: company.EGit, says: "partial clone", fix: "git clone", docker: true},
	{line: "repos: SHA-256",
		prep: shellPrep("rm -rf .git && git init -q -b main --object-format=sha256 . && git add -A && git commit -q -m " +
			"first"), args: submitX, exit: 1, code: company.EGit, says: "SHA-256", fix: "sha1", docker: true},
	{line: "repos: bare", prep: shellPrep("git config core.bare true"), args: submitX, exit: 1, code: company.EGit,
		says: "bare repository", fix: "clone it", docker: true},
	{line: "repos: corrupt, no commit", prep: shellPrep("rm -rf .git/objects/??"), args: submitX, exit: 1,
		code: company.EGit, says: "the repository is damaged", fix: "git fsck", docker: true},
	{line: "repos: corrupt, no tree",
		prep: shellPrep(`t=$(git rev-parse HEAD^{tree}); rm -f .git/objects/$(echo $t | cut -c1-2)/$(echo $t | cut -c3-)`),
		args: submitX, exit: 1, code: company.EGit, says: "", fix: "git fsck", docker: true},
	{line: "repos: corrupt, garbage in HEAD", prep: shellPrep("echo garbage > .git/HEAD"), args: submitX, exit: 1,
		code: company.EGit, says: "", fix: ""},
	{line: "repos: .git is an empty folder", prep: shellPrep("rm -rf .git; mkdir .git"), args: submitX, exit: 1,
		code: company.EGit, says: "is damaged", fix: "clone it again"},
	{line: "repos: .git points nowhere", prep: shellPrep("rm -rf .git; echo 'gitdir: /nonexistent' > .git"), args: submitX,
		exit: 1, code: company.EGit, says: "", fix: ""},
	{line: "repos: no such branch", args: []string{"submit", "--base", "nowhere", "x"}, exit: 1, code: company.ENotFound,
		says: `there is no branch "nowhere"`, fix: "git branch", docker: true},
	{line: "repos: a branch that is an option", args: []string{"submit", "--base", "--upload-pack=x", "x"}, exit: 1,
		code: company.EInvalid, says: "invalid branch name", fix: "git branch", docker: true},
}

// TestWrongInput: bad input is one error with a field or cause and a fix, an
// exit code of 1 or 64, and no side effect: no office, nothing in git
// (CFG-2, CFG-5). Each is an error for programs, too.
func TestWrongInput(t *testing.T) {
	model := httptest.NewServer(http.HandlerFunc(listNoModels))
	defer model.Close()
	for _, x := range wrongInputs {
		t.Run(x.line, func(t *testing.T) {
			if x.docker {
				hosttest.NeedsDocker(t)
			}
			work, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			repo := filepath.Join(work, "repo")
			if err := os.MkdirAll(repo, 0o755); err != nil {
				t.Fatal(err)
			}
			shellPrep("echo a > a; git init -q -b main . && git add -A && git commit -q -m first")(t, repo)
			vars := map[string]string{config.VarForeground: "1",
				"HOME": filepath.Join(work, "home"), "XDG_CONFIG_HOME": filepath.Join(work, "config"),
				"XDG_RUNTIME_DIR":                work,
				"COMPANY_MODELS_DEFAULT_ADAPTER": "openai", "COMPANY_MODELS_DEFAULT_BASE_URL": model.URL + "/v1"}
			if x.config != "" {
				writeConfig(t, filepath.Join(work, "config", "company", "config.yaml"), x.config)
			}
			if x.prep != nil {
				x.prep(t, repo)
			}
			t.Chdir(repo)
			before := listFiles(t, work)
			for _, output := range []string{"text", "json"} {
				var out, errs bytes.Buffer
				env := command.NewEnvironment(
					terminalio.Console{In: strings.NewReader(x.stdin), Out: &out, Err: &errs,
						LookupEnv: func(k string) (string, bool) { v, ok := vars[k]; return v, ok }})
				exit := execute(t.Context(), env, append(slices.Clone(x.args), "-o", output))
				said := errs.String()
				if exit != x.exit || out.Len() > 0 {
					t.Errorf("exit %d, want %d; stdout %q\n%s", exit, x.exit, out.String(), said)
				}
				if output == "json" {
					if !strings.HasPrefix(said, `{"error":{"code":"`+string(x.code)+`"`) || strings.Count(said, "\n") != 1 {
						t.Errorf("JSON:\n%s", said)
					}
					continue
				}
				if head, rest, ok := strings.Cut(said, "\n"); ok &&
					strings.HasPrefix(head, "company "+command.Version+"  checking ") {
					said = rest // a slow machine is told so
				}
				if !strings.HasPrefix(said, "error["+string(x.code)+"]: ") || !strings.Contains(said, x.says) {
					t.Errorf("want %s and %q:\n%s", x.code, x.says, said)
				}
				_, fix, ok := strings.Cut(said, "\n  fix:  ")
				if !ok || !strings.Contains(fix, x.fix) || strings.Count(said, "error[") != 1 ||
					strings.Contains(said, "goroutine ") {
					t.Errorf("want a fix with %q:\n%s", x.fix, said)
				}
			}
			if after := listFiles(t, work); !slices.Equal(before, after) {
				t.Errorf("something was made:\n%v\nbefore\n%v", after, before)
			}
		})
	}
}

func writeConfig(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// listFiles lists each path below dir with its size: git's own files, too.
func listFiles(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			out = append(out, path+" "+info.Mode().String()+" "+info.ModTime().String())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
