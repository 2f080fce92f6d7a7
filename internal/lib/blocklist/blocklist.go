// Package blocklist has the commands that agents may not run, and git for the company may not either, because they
// destroy what cannot be restored. It also has the names of files with secrets, which agents get no access to. The
// caller parses commands and resolves paths.
package blocklist

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// The reasons in refusals, for programs.
const (
	DestructiveCommand = "destructive_command_blocked"
	SecretAccess       = "secret_access_blocked"
)

// Blocked describes a blocked command: its dangerous part, and what to do instead.
type Blocked struct{ Command, Instead string }

// FindCommand looks for a command, given by the base name of its program, in the list. The arguments are those after
// quoting. It only sees what is written in the command itself, not what a script or a Makefile does.
func FindCommand(program string, args []string) (Blocked, bool) {
	switch program {
	case "rm":
		if hasFlag(args, "rR", "--recursive") && hasFlag(args, "f", "--force") {
			return Blocked{"rm -rf", "name the files and use rm -r"}, true
		}
	case "git":
		return findGit(args)
	case "docker", "podman", "docker-compose":
		return findDocker(program, args)
	case "dropdb":
		return Blocked{"dropdb", keepDatabase}, true
	case "mysqladmin":
		if slices.Contains(args, "drop") {
			return Blocked{"mysqladmin drop", keepDatabase}, true
		}
	}
	if IsSQLClient(program) {
		for _, arg := range args {
			if drop := dropStatement.FindStringSubmatch(arg); drop != nil {
				return blockDrop(drop[1]), true
			}
		}
	}
	return findRollback(append([]string{program}, args...))
}

const keepDatabase = "use another database, and leave this one"

// IsSQLClient reports whether a program runs SQL, from its arguments or its input.
func IsSQLClient(program string) bool { return slices.Contains(sqlClients, program) }

// FindPrintedDrop looks for a statement that drops a database or a schema in a script that a client of a database runs
// in: what the script prints may be the client's input.
func FindPrintedDrop(script string) (Blocked, bool) {
	drop := printedDrop.FindStringSubmatch(script)
	if drop == nil {
		return Blocked{}, false
	}
	return blockDrop(drop[1]), true
}

func blockDrop(what string) Blocked { return Blocked{"DROP " + strings.ToUpper(what), keepDatabase} }

var (
	sqlClients    = strings.Fields("psql mysql mariadb sqlite3 sqlcmd cockroach clickhouse-client duckdb")
	dropStatement = regexp.MustCompile(`(?i)(?:^|;)\s*drop\s+(database|schema)\b`)
	printedDrop   = regexp.MustCompile(`(?i)(?:[;\n]|(?:echo|printf)\s+['"]?)\s*drop\s+(database|schema)\b`)
)

// findGit looks at a git command. Options of git itself may precede the subcommand.
func findGit(args []string) (Blocked, bool) {
	args = skipOptions(args, "-C", "-c", "--git-dir", "--work-tree", "--namespace")
	if len(args) == 0 {
		return Blocked{}, false
	}
	command, args := args[0], args[1:]
	switch {
	case command == "reset" && hasFlag(args, "", "--hard"):
		return Blocked{"git reset --hard", "use git restore for single files, or git revert for commits"}, true
	case command == "clean" && !hasFlag(args, "n", "--dry-run") && !slices.Contains(args, "-h"):
		return Blocked{"git clean", "remove the files by name with rm"}, true
	case command == "push" && hasFlag(args, "f", "--force"):
		return Blocked{"git push --force", "push new commits on top"}, true
	case command == "push" && slices.ContainsFunc(args, forcesBranch):
		return Blocked{"git push +", "push new commits on top"}, true
	case command == "push" && hasFlag(args, "", "--force-with-lease"):
		return Blocked{"git push --force-with-lease", "push new commits on top"}, true
	case command == "branch" && (hasFlag(args, "D", "") ||
		hasFlag(args, "d", "--delete") && hasFlag(args, "f", "--force")):
		return Blocked{"git branch -D", "use git branch -d, which keeps unmerged work"}, true
	case command == "worktree" && len(args) > 0 && args[0] == "remove" && hasFlag(args, "f", "--force"):
		return Blocked{"git worktree remove --force", "commit its work, and remove it without --force"}, true
	}
	return Blocked{}, false
}

// forcesBranch reports whether a refspec forces a branch. A checkpoint of the company is not a branch.
func forcesBranch(refspec string) bool {
	return strings.HasPrefix(refspec, "+") && !strings.Contains(refspec, ":refs/company/")
}

func findDocker(program string, args []string) (Blocked, bool) {
	if program != "docker-compose" {
		args = skipOptions(args, "-H", "--host", "--context", "-c", "--config", "-l", "--log-level")
	}
	if len(args) == 0 {
		return Blocked{}, false
	}
	switch {
	case program == "docker-compose" || args[0] == "compose":
		if args[0] == "compose" {
			args = args[1:]
		}
		args = skipOptions(args, "-f", "--file", "-p", "--project-name", "--profile", "--env-file", "--project-directory")
		if len(args) > 0 && args[0] == "down" && hasFlag(args, "v", "--volumes") &&
			!slices.Contains(args, "--volumes=false") {
			return Blocked{"docker compose down -v", "leave out -v: volumes hold data"}, true
		}
	case args[0] == "volume" && len(args) > 1 && slices.Contains([]string{"rm", "remove", "prune"}, args[1]):
		return Blocked{"docker volume " + args[1], "leave volumes: they hold data"}, true
	}
	return Blocked{}, false
}

// skipOptions skips the options before a subcommand. valued lists those that take the next argument.
func skipOptions(args []string, valued ...string) []string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		n := 1
		if slices.Contains(valued, args[0]) {
			n = 2
		}
		args = args[min(n, len(args)):]
	}
	return args
}

// Ways of tools to undo migrations: words that say so by themselves, and a tool with words that follow in order.
var (
	rollbackWords = strings.Fields("db:rollback db:migrate:down db:migrate:undo db:migrate:undo:all db:migrate:reset " +
		"db:drop db:reset migrate:rollback migrate:reset migrate:fresh migrate:refresh migrate:down migration:revert " +
		"ecto.rollback ecto.drop ecto.reset")
	rollbackRunners = strings.Fields("rails rake php artisan sequelize sequelize-cli knex typeorm mix bundle npm yarn " +
		"pnpm")
	rollbacks = [][]string{
		{"alembic", "downgrade"}, {"flask", "db", "downgrade"}, {"prisma", "migrate", "reset"}, {"migrate", "down"},
		{"migrate", "drop"}, {"goose", "down"}, {"goose", "reset"}, {"flyway", "undo"}, {"flyway", "clean"},
		{"liquibase", "rollback"}, {"dotnet", "ef", "database", "drop"}, {"dbmate", "rollback"}, {"dbmate", "drop"},
		{"diesel", "migration", "revert"}, {"sqlx", "migrate", "revert"}, {"sqlx", "database", "drop"},
	}
	// runners precede a tool, alone or together.
	runners = strings.Fields("bundle poetry uv pipenv python python3 exec run -m")
	// creators precede the name of a new migration, which may be any word.
	creators = strings.Fields("create new revision generate add")
)

func findRollback(words []string) (Blocked, bool) {
	const instead = "add a migration that changes it back"
	if slices.Contains(rollbackRunners, words[0]) {
		for _, word := range words[1:] {
			if slices.Contains(rollbackWords, word) {
				return Blocked{word, instead}, true
			}
		}
	}
	for len(words) > 1 && slices.Contains(runners, words[0]) {
		words = words[1:]
	}
	for _, rollback := range rollbacks {
		if words[0] == rollback[0] && holdsInOrder(words[1:], rollback[1:]) {
			return Blocked{strings.Join(rollback, " "), instead}, true
		}
	}
	return Blocked{}, false
}

// holdsInOrder reports whether all of some words are among others in their order, and not behind a creator.
func holdsInOrder(words, wanted []string) bool {
	for _, word := range words {
		switch {
		case slices.Contains(creators, word):
			return false
		case word == wanted[0]:
			if wanted = wanted[1:]; len(wanted) == 0 {
				return true
			}
		}
	}
	return false
}

// hasFlag reports whether the arguments have an option: one of the letters, alone or among others, or its long name,
// also with a value. What follows -- is not an option.
func hasFlag(args []string, letters, long string) bool {
	for _, a := range args {
		switch name, _, _ := strings.Cut(a, "="); {
		case a == "--":
			return false
		case strings.HasPrefix(a, "--"):
			if long != "" && name == long {
				return true
			}
		case len(a) > 1 && a[0] == '-' && letters != "" && strings.ContainsAny(a[1:], letters):
			return true
		}
	}
	return false
}

// secretFolders hold the logins of a person, below the home folder.
var secretFolders = strings.Fields(".ssh .aws .config/gcloud .kube")

// Names of files with secrets: they begin with .env, end like a key, or have one of the parts and hold data.
var (
	secretParts    = strings.Fields("token secret credentials")
	secretSuffixes = strings.Fields(".pem .key")
	dataSuffixes   = strings.Fields(".txt .json .yml .yaml .toml .ini .cfg .conf .properties .xml .csv .enc .gpg .env")
	// packageFolders hold what package managers have fetched, which is public.
	packageFolders = strings.Fields("node_modules vendor .venv venv site-packages target dist build")
)

// InSecretFolder reports whether a path is in a folder that holds a person's logins, or is one.
func InSecretFolder(name string) bool {
	return slices.ContainsFunc(secretFolders, func(folder string) bool { return holdsFolder(name, folder) })
}

func holdsFolder(name, folder string) bool {
	return strings.Contains("/"+strings.ToLower(path.Clean(name))+"/", "/"+folder+"/")
}

// IsSecretName reports whether a path has the name of a file with secrets. A file of a repository may have such a name,
// too, so a caller allows what git tracks.
func IsSecretName(name string) bool {
	if InSecretFolder(name) {
		return true
	}
	base := strings.ToLower(path.Base(path.Clean(name)))
	has := func(test func(s, part string) bool, parts []string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return test(base, part) })
	}
	if slices.ContainsFunc(packageFolders, func(folder string) bool { return holdsFolder(path.Dir(name), folder) }) {
		return strings.HasPrefix(base, ".env")
	}
	return strings.HasPrefix(base, ".env") || has(strings.HasSuffix, secretSuffixes) ||
		has(strings.Contains, secretParts) && (path.Ext(base) == "" || has(strings.HasSuffix, dataSuffixes))
}
