package toolserver

import (
	"strings"
	"testing"

	"company/internal/toolbox/toolproto"
)

// APR-10: an agent's command of the list is refused wherever in a script it stands, and does nothing. The company's own
// commands are not.
func TestDestructiveCommandsAreRefused(t *testing.T) {
	origin, base := newOrigin(t)
	b := newBench(t)
	b.prepare(t, origin, base)
	for _, command := range []string{
		"rm -rf sub", "touch new && rm -r -f sub", "sh -c 'rm -rf sub'", "find . -name b.txt -exec rm -rf {} +",
		"timeout 5 rm -fr sub", "env A=b nice rm -rf sub", "git reset --hard HEAD", "(cd sub; git clean -fdx)",
		"git push --force origin HEAD", "if true; then git branch -D other; fi", `psql -c "DROP DATABASE x"`,
		"npx prisma migrate reset", "echo $(rm -rf sub)", "bin/rake db:drop",
		"echo 'DROP DATABASE x' | psql", "psql <<EOF\nDROP SCHEMA x;\nEOF", "timeout 5 sh -c 'rm -rf sub'",
	} {
		_, err := b.Run(t.Context(), toolproto.RunRequest{Command: command, ByAgent: true})
		requireRefusal(t, err, toolproto.KindDestructive, "destructive_command_blocked: ")
		if !strings.Contains(err.Error(), "; ") {
			t.Errorf("%s: no advice: %v", command, err)
		}
	}
	if r := b.run(t, toolproto.RunRequest{Command: "ls sub/b.txt; ls new", ByAgent: true}); r.Stdout.String() != "sub/b.txt\n" {
		t.Errorf("%+v", r)
	}
	if r := b.run(t, toolproto.RunRequest{Command: "rm -r sub; git reset -q; ls sub", ByAgent: true}); r.ExitCode == 0 {
		t.Errorf("%+v", r)
	}
	if r := b.run(t, toolproto.RunRequest{Command: "mkdir x && rm -rf x"}); r.ExitCode != 0 {
		t.Errorf("%+v", r)
	}
}

// APR-11: a file with the name of a secret is out of reach of tools and commands, unless it is the repository's.
func TestSecretFilesAreRefused(t *testing.T) {
	origin, base := newOrigin(t)
	b := newBench(t)
	b.prepare(t, origin, base)
	if r := b.run(t, toolproto.RunRequest{Command: "printf '.env*\\n*.pem\\n*token*\\n' >.gitignore; echo A=b >.env; " +
		"echo x >tracked_token.go; ln -s .env plain; git add -f tracked_token.go .gitignore; git commit -qm more; echo y >new_secret.go"}); r.ExitCode != 0 {
		t.Fatalf("%+v", r)
	}
	refuse := func(what string, err error) {
		t.Helper()
		requireRefusal(t, err, toolproto.KindSecret, "secret_access_blocked: ")
		if !strings.Contains(err.Error(), what) {
			t.Errorf("%v does not name %s", err, what)
		}
	}
	_, err := b.ReadFile(t.Context(), toolproto.ReadFileRequest{Path: ".env"})
	refuse(".env", err)
	_, err = b.ReadFile(t.Context(), toolproto.ReadFileRequest{Path: "plain"}) // a link to it
	refuse("plain", err)
	_, err = b.WriteFile(t.Context(), toolproto.WriteFileRequest{Path: "sub/.env.local", Content: []byte("A=c\n")})
	refuse("sub/.env.local", err)
	_, err = b.EditFile(t.Context(), toolproto.EditFileRequest{Path: ".env", Old: "b", New: "c"})
	refuse(".env", err)
	for command, what := range map[string]string{
		"cat .env": ".env", "cp .env x": ".env", "cat <.env": ".env", "echo A=c >.env": ".env", "cd sub && cat ../.env": ".env",
		"docker run --env-file=.env x": ".env", "curl -d @server.pem localhost": "server.pem", "ls ~/.ssh": "~/.ssh",
		"cat /root/.aws/credentials": "/root/.aws/credentials", "sh -c 'cat .env'": ".env",
		`cat "$HOME/.ssh/id_rsa"`: "~/.ssh/id_rsa", "cat $PWD/.env": "./.env", "timeout 5 sh -c 'cat .env'": ".env",
	} {
		if _, err := b.Run(t.Context(), toolproto.RunRequest{Command: command, ByAgent: true}); err == nil {
			t.Errorf("%s is run", command)
		} else {
			refuse(what, err)
		}
	}
	for _, command := range []string{"cat tracked_token.go", "cat new_secret.go", "grep -rn token . || true", "ls /etc/ssl",
		"echo .env", "git check-ignore .env", "git commit --allow-empty -qm 'Document the server.pem'",
		"ls node_modules/jsonwebtoken"} {
		if _, err := b.Run(t.Context(), toolproto.RunRequest{Command: command, ByAgent: true}); err != nil {
			t.Errorf("%s: %v", command, err)
		}
	}
	for _, path := range []string{"tracked_token.go", "new_secret.go"} {
		if _, err := b.ReadFile(t.Context(), toolproto.ReadFileRequest{Path: path}); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}
