package service

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/ecosystem/ciconfig"
	"company/internal/lib/lazyregexp"
)

// Found is a service that a project's own files run.
type Found struct {
	Wish
	Image string // as in the file
	File  string
	OfCI  bool // it runs beside the project's CI jobs
}

// Find lists the services that CI definitions and compose files run beside a project. Services of CI
// come first, because the project's tests are known to pass with them. others lists the images beside
// CI jobs that are not our services.
func Find(tree *ecosystem.Tree) (found []Found, others []string) {
	add := func(f Found, env []map[string]string, hosts ...string) bool {
		server, ok := serverOf(f.Image)
		if !ok {
			return false
		}
		f.Name, f.Account = server.name, accountOf(server.name, env)
		for _, name := range hosts {
			if strings.ContainsAny(name, ":/") { // an image name, as GitLab uses it
				name = imageName(name)
			}
			if name != "" {
				f.Hosts = append(f.Hosts, name)
			}
		}
		found = append(found, f)
		return true
	}
	for _, definition := range ciconfig.ReadDefinitions(tree) {
		for _, job := range definition.Jobs {
			for _, service := range job.Services {
				env := []map[string]string{service.Env, job.Env}
				if name := imageName(service.Image); !add(
					Found{Image: service.Image, File: definition.File, OfCI: true}, env, service.Name) && name != "" &&
					len(others) < maxOthers && !slices.Contains(others, name) {
					others = append(others, name)
				}
			}
		}
	}
	for _, file := range composeFiles(tree) {
		dir, name := ecosystem.SplitPath(file)
		root, err := tree.ReadYAML(dir, name)
		if err != nil {
			tree.AddNote("%s is not read: %v", ecosystem.PrintablePath(file), err)
			continue
		}
		services := root.Field("services")
		if services == nil {
			continue
		}
		for _, yamlField := range services.Fields {
			add(Found{Image: yamlField.Value.FieldText("image"), File: file},
				[]map[string]string{readEnvironment(yamlField.Value.Field("environment"))}, yamlField.Key,
				yamlField.Value.FieldText("hostname"),
				yamlField.Value.FieldText("container_name"))
		}
	}
	return found, others
}

// maxCompose limits the number of compose files that are read.
const maxCompose = 8

var (
	composeName = lazyregexp.New(`^(docker-)?compose([.-][A-Za-z0-9_-]+)?\.ya?ml$`)
	composeDirs = []string{"", ".devcontainer", ".docker", "docker", "test", "tests", "ci", ".ci"}
)

// composeFiles returns the compose files in the usual folders, in each folder those with short names
// first.
func composeFiles(tree *ecosystem.Tree) []string {
	var out []string
	for _, dir := range composeDirs {
		names := slices.Clone(tree.Dirs[dir])
		slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
		for _, name := range names {
			if composeName.MatchString(name) && len(out) < maxCompose {
				out = append(out, path.Join(dir, name))
			}
		}
	}
	return out
}

// readEnvironment reads the variables of a compose service from a mapping or a list.
func readEnvironment(yamlValue *ecosystem.YAMLValue) map[string]string {
	out := map[string]string{}
	if yamlValue == nil {
		return out
	}
	for _, yamlField := range yamlValue.Fields {
		if yamlField.Value != nil {
			out[yamlField.Key] = yamlField.Value.Text
		}
	}
	for _, item := range yamlValue.Items {
		if name, value, ok := strings.Cut(item.Text, "="); ok {
			out[name] = value
		}
	}
	return out
}

// imageName returns the name of an image without its registry, folder and tag.
func imageName(image string) string {
	name, _, _ := strings.Cut(path.Base(expandVariables(image)), "@")
	name, _, _ = strings.Cut(name, ":")
	if name == "." || name == "/" {
		return ""
	}
	return strings.ToLower(name)
}

// imageNames lists the names of images that provide each of our services.
var imageNames = map[string][]string{
	"postgres": {"postgres", "postgresql", "postgis", "pgvector", "timescaledb"},
	"redis":    {"redis", "valkey", "keydb", "dragonfly"},
	"mysql":    {"mysql", "mariadb", "percona", "percona-server", "mysql-server"},
	"rabbitmq": {"rabbitmq"}, "memcached": {"memcached"},
	"mosquitto": {"mosquitto", "eclipse-mosquitto", "emqx", "nanomq"},
}

func serverOf(image string) (server, bool) {
	name := imageName(image)
	for _, s := range servers {
		if slices.Contains(imageNames[s.name], name) {
			return s, true
		}
	}
	return server{}, false
}

// accountOf reads the account from the variables that configure database images. If several mappings
// have a variable, the first one is used.
func accountOf(name string, env []map[string]string) Account {
	of := func(keys ...string) string {
		for _, key := range keys {
			for _, from := range env {
				value, ok := from[key]
				if !ok {
					continue
				}
				if value = expandVariables(value); value != "" {
					return value
				}
				break
			}
		}
		return ""
	}
	switch name {
	case "postgres":
		return Account{User: of("POSTGRES_USER", "POSTGRESQL_USERNAME"),
			Password: of("POSTGRES_PASSWORD", "POSTGRESQL_PASSWORD"), Database: of("POSTGRES_DB", "POSTGRESQL_DATABASE")}
	case "mysql":
		return Account{User: of("MYSQL_USER", "MARIADB_USER"), Password: of("MYSQL_PASSWORD", "MARIADB_PASSWORD"),
			Database:      of("MYSQL_DATABASE", "MARIADB_DATABASE"),
			AdminPassword: of("MYSQL_ROOT_PASSWORD", "MARIADB_ROOT_PASSWORD")}
	case "rabbitmq":
		return Account{User: of("RABBITMQ_DEFAULT_USER", "RABBITMQ_USERNAME"),
			Password: of("RABBITMQ_DEFAULT_PASS", "RABBITMQ_PASSWORD"), Database: of("RABBITMQ_DEFAULT_VHOST")}
	}
	return Account{}
}

var variableRE = lazyregexp.New(`\$\{[A-Za-z_][A-Za-z0-9_]*:?-([^${}]*)\}`)

// expandVariables replaces variables by their defaults. It returns "" if a variable has no default.
func expandVariables(s string) string {
	s = variableRE.ReplaceAllString(s, "$1")
	if strings.Contains(s, "$") {
		return ""
	}
	return strings.TrimSpace(s)
}
