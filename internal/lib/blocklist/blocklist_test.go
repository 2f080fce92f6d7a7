package blocklist

import (
	"strings"
	"testing"
)

// APR-10: each command of the list is found however its options are written, and what only looks like it is not.
func TestCommandsOfTheList(t *testing.T) {
	for line, want := range map[string]string{
		"rm -rf build": "rm -rf", "rm -fr .": "rm -rf", "rm -r -f x": "rm -rf", "rm --recursive --force x": "rm -rf",
		"rm x -Rfv": "rm -rf", "git reset --hard": "git reset --hard", "git -C x reset HEAD~1 --hard": "git reset --hard",
		"git clean -fdx": "git clean", "git push --force": "git push --force", "git push -f origin x": "git push --force",
		"git push --force-with-lease":              "git push --force-with-lease",
		"git push --force-with-lease=main:abc o m": "git push --force-with-lease",
		"git worktree remove --force ../x":         "git worktree remove --force",
		"git worktree remove -f x":                 "git worktree remove --force",
		"git branch -D x":                          "git branch -D", "git -c a=b branch --delete --force x": "git branch -D",
		"docker volume rm data": "docker volume rm", "docker --context x volume prune -f": "docker volume prune",
		"docker compose -f a.yml down -v": "docker compose down -v",
		"docker-compose down --volumes":   "docker compose down -v",
		"psql -c drop\tdatabase\tx":       "DROP DATABASE", "mysql -e DROP\tSCHEMA\tx": "DROP SCHEMA",
		"dropdb x": "dropdb", "rails db:rollback STEP=2": "db:rollback", "rake db:drop": "db:drop",
		"alembic -c x downgrade -1": "alembic downgrade", "prisma migrate reset": "prisma migrate reset",
		"php artisan migrate:rollback": "migrate:rollback", "migrate -path m down 1": "migrate down",
		"mysqladmin -u root drop app": "mysqladmin drop", "git --git-dir x push o +HEAD:main": "git push +",
		"git --work-tree . reset --hard": "git reset --hard", "poetry run alembic downgrade x": "alembic downgrade",
		"flask db downgrade": "flask db downgrade", "goose -dir m postgres x down": "goose down",
	} {
		words := strings.Split(line, " ")
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "\t", " ")
		}
		if got, ok := FindCommand(words[0], words[1:]); !ok || got.Command != want || got.Instead == "" {
			t.Errorf("%q: %+v, want %q", line, got, want)
		}
	}
	for _, line := range []string{
		"rm -r build", "rm -f x", "rm -- -rf", "rm -i x", "git reset --soft HEAD~1", "git reset", "git clean -n", "git push",
		"git push origin HEAD:x", "git branch -d x", "git branch --force x y", "git worktree remove x", "git worktree list",
		"git", "git log --grep clean", "docker volume ls", "docker compose down", "docker compose up -d", "psql -c select",
		"grep -rn db:rollback .", "echo DROP DATABASE x", "alembic upgrade head", "migrate -path m up", "ls -rf", "make clean",
		"git commit -m db:rollback", "rg migrate down", "alembic revision -m downgrade", "goose create reset sql",
		"migrate create -ext sql -dir m drop", "make migrate down", "ls goose down", "gh issue create --body db:drop",
		"docker compose -fdev.yml down", "docker compose run -v a:b app db down", "docker volume create rm",
		"docker compose down --volumes=false", "sqlite3 a.db select\t'drop\tdatabase'", "git --git-dir x status",
	} {
		words := strings.Split(line, " ")
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "\t", " ")
		}
		if got, ok := FindCommand(words[0], words[1:]); ok {
			t.Errorf("%q is blocked: %+v", line, got)
		}
	}
}

// APR-11.
func TestSecretNames(t *testing.T) {
	for _, name := range []string{".env", "a/.env.local", "node_modules/x/.env", "tokens", "/root/.ssh/id_rsa", "/home/a/.aws/credentials", "~/.config/gcloud/x",
		"~/.kube/config", "api_token.txt", "MY_SECRETS.yml", "x/credentials.json", "server.pem", "tls.key", ".ssh"} {
		if !IsSecretName(name) {
			t.Errorf("%q is let pass", name)
		}
	}
	for _, name := range []string{"main.go", "env.go", "a.pem.txt", "keys.go", "sshd", ".config/x", "kube/config", "",
		"token.go", "node_modules/jsonwebtoken/package.json", ".venv/lib/certifi/cacert.pem", "src/secrets.ts"} {
		if IsSecretName(name) {
			t.Errorf("%q is blocked", name)
		}
	}
}
