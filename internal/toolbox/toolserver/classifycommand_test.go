package toolserver

import (
	"strings"
	"testing"
)

// PRC-2: interactive commands, also behind wrappers, pipes, env, sudo, sh -c.
func TestInteractiveCommandsAreSeen(t *testing.T) {
	for _, c := range []string{
		"vim", "vi x", "nano a.txt", "less README.md", "/usr/bin/vim x", "git log | less", "cat x | more", "ls; top",
		"true && vim", "false || nano", "(vim)", "{ vim; }", "if true; then vim; fi", "for f in *; do nano $f; done",
		"env vim", "env -i FOO=1 vim x", "env -u A vim", "sudo vim", "sudo -u root -- vim", "FOO=1 vim", "nohup vim",
		"exec vim",
		"timeout 5 vim", "timeout -s KILL 5 vim", "nice -n 5 vim", "stdbuf -o0 less", "time vim", "setsid vim", "command vim",
		"busybox vi",
		"sh -c vim", `bash -lc "cd x && vim y"`, `sh -c 'sh -c "less x"'`, `sudo bash -c 'vim'`, `eval "vim x"`,
		`env -S "vim x"`,
		"xargs vim", "ls | xargs -n 1 nano", "find . -name x -exec vim {} +", `"vi"m x`, `\vim x`, "'nano' x",
		"echo $(vim x)", "echo `less x`",
		"vim &", "man ls | most", "watch ls", "ssh host", "tmux new", "git rebase -i HEAD~2", "git -C x add -p", "git add -i",
		"git commit --patch",
		"git mergetool", "crontab -e", "cat <(less x)", "time sudo env A=b nice vim",
	} {
		if v := classifyCommand(c); v.interactive == "" {
			t.Errorf("%q was let pass", c)
		}
	}
	for _, c := range []string{
		"echo vim", "which vim", "grep less x", "ls vim", "apt-get install -y nano", "vim --version", "emacs --batch -l x",
		"ls 'less more'",
		"less() { cat; }; less x", "command -v vim", "git log", "git add x", "git rebase main",
		"GIT_SEQUENCE_EDITOR=: git rebase -i HEAD~2",
		"git commit -m 'use vim -p'", "echo 'vim' > x", "cat <<EOF\nvim x\nEOF", "# vim", "./vim.sh", "go test ./...", "",
		"if then", "$EDITOR x",
		"git log -p", "git diff -p | cat", "bash script.sh -c vim", "env", "sudo", "xargs", "crontab -l",
		"python3 -c 'import less'",
	} {
		if v := classifyCommand(c); v.interactive != "" {
			t.Errorf("%q was refused: %s", c, v.interactive)
		}
	}
	if v := classifyCommand("ls | less"); !strings.Contains(v.interactive, "less is interactive") ||
		!strings.Contains(v.interactive, "captured") {
		t.Errorf("the reason does not help: %s", v.interactive)
	}
}

// PRC-3.
func TestServerCommandsAreSeen(t *testing.T) {
	for _, c := range []string{
		"npm run dev", "npm start", "yarn dev", "pnpm --silent run start", "bun run dev", "npx vite", "vite preview",
		"next dev", "npx next start",
		"python3 -m http.server 8000", "python manage.py runserver", "flask run", "uvicorn app:app",
		"php -S localhost:80", "rails s",
		"bundle exec rails server", "poetry run uvicorn a:b", "tail -f x.log", "tsc --watch", "cd web && npm run dev",
		"FOO=1 npm run dev",
		"nohup npm run dev", "npm run dev &", "sh -c 'npm run dev'", "npm run start:dev > log 2>&1", "nginx", "ng serve",
		"python -m uvicorn a:b",
	} {
		if v := classifyCommand(c); v.server == "" || v.interactive != "" {
			t.Errorf("%q is a server: %+v", c, v)
		}
	}
	for _, c := range []string{
		"npm test", "npm run build", "npm install", "yarn", "vite build", "next build", "python3 x.py", "tail -n 5 x", "tsc",
		"echo npm run dev",
		"timeout 5 npm run dev", "go run .", "cargo build", "flask --help", "make serve-docs", "nginx --version", "npm",
		"php x.php",
	} {
		if v := classifyCommand(c); v.server != "" {
			t.Errorf("%q was taken for a server: %s", c, v.server)
		}
	}
}

func FuzzInspect(f *testing.F) {
	for _, s := range []string{"vim", "sh -c 'sh -c vim'", "env -S", "timeout", "find -exec", "a=`b", "npm run", "git -c",
		"sudo -u"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, command string) { classifyCommand(command) })
}
