package service

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"company/internal/cifile"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// Found is a service that a project's own files run.
type Found struct {
	Wish
	Image string // as the file has it
	File  string
	OfCI  bool // its tests are known to run beside it
}

// Find lists the services that CI definitions and compose files run beside a
// project, those of CI first: its tests are known to pass with them. others are
// images beside the jobs of CI that are none of ours.
func Find(t *ecosystem.Tree) (found []Found, others []string) {
	add := func(f Found, env []map[string]string, hosts ...string) bool {
		s, ok := serverOf(f.Image)
		if !ok {
			return false
		}
		f.Name, f.Account = s.name, accountOf(s.name, env)
		for _, name := range hosts {
			if strings.ContainsAny(name, ":/") { // GitLab's name of an image
				name = imageName(name)
			}
			if name != "" {
				f.Hosts = append(f.Hosts, name)
			}
		}
		found = append(found, f)
		return true
	}
	for _, d := range cifile.ReadDefinitions(t) {
		for _, j := range d.Jobs {
			for _, s := range j.Services {
				env := []map[string]string{s.Env, j.Env}
				if name := imageName(s.Image); !add(Found{Image: s.Image, File: d.File, OfCI: true}, env, s.Name) && name != "" && len(others) < maxOthers && !slices.Contains(others, name) {
					others = append(others, name)
				}
			}
		}
	}
	for _, file := range composeFiles(t) {
		dir, name := ecosystem.SplitPath(file)
		root, err := t.ReadYAML(dir, name)
		if err != nil {
			t.AddNote("%s is not read: %v", ecosystem.PrintablePath(file), err)
			continue
		}
		services := root.Field("services")
		if services == nil {
			continue
		}
		for _, s := range services.Fields {
			add(Found{Image: s.Value.FieldText("image"), File: file}, []map[string]string{readEnvironment(s.Value.Field("environment"))}, s.Key, s.Value.FieldText("hostname"), s.Value.FieldText("container_name"))
		}
	}
	return found, others
}

// maxCompose bounds the compose files that are read.
const maxCompose = 8

var (
	composeName = lazyregexp.New(`^(docker-)?compose([.-][A-Za-z0-9_-]+)?\.ya?ml$`)
	composeDirs = []string{"", ".devcontainer", ".docker", "docker", "test", "tests", "ci", ".ci"}
)

// composeFiles are the compose files in the places where projects have them, the
// plain ones first.
func composeFiles(t *ecosystem.Tree) []string {
	var out []string
	for _, dir := range composeDirs {
		names := slices.Clone(t.Dirs[dir])
		slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
		for _, name := range names {
			if composeName.MatchString(name) && len(out) < maxCompose {
				out = append(out, path.Join(dir, name))
			}
		}
	}
	return out
}

// readEnvironment reads the variables of a compose service, which are a mapping or a
// list.
func readEnvironment(v *ecosystem.YAMLValue) map[string]string {
	out := map[string]string{}
	if v == nil {
		return out
	}
	for _, f := range v.Fields {
		if f.Value != nil {
			out[f.Key] = f.Value.Text
		}
	}
	for _, item := range v.Items {
		if name, value, ok := strings.Cut(item.Text, "="); ok {
			out[name] = value
		}
	}
	return out
}

// imageName is the name of an image without its registry, folder and tag.
func imageName(image string) string {
	name, _, _ := strings.Cut(path.Base(expandVariables(image)), "@")
	name, _, _ = strings.Cut(name, ":")
	if name == "." || name == "/" {
		return ""
	}
	return strings.ToLower(name)
}

// imageNames are the images that are a service of ours, or do the same.
var imageNames = map[string][]string{
	"postgres": {"postgres", "postgresql", "postgis", "pgvector", "timescaledb"},
	"redis":    {"redis", "valkey", "keydb", "dragonfly"},
	"mysql":    {"mysql", "mariadb", "percona", "percona-server", "mysql-server"},
	"rabbitmq": {"rabbitmq"}, "memcached": {"memcached"}, "mosquitto": {"mosquitto", "eclipse-mosquitto", "emqx", "nanomq"},
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

// accountOf reads the variables by which images of databases are told which account
// to make. A variable counts by the first of the mappings that has it.
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
		return Account{User: of("POSTGRES_USER", "POSTGRESQL_USERNAME"), Password: of("POSTGRES_PASSWORD", "POSTGRESQL_PASSWORD"), Database: of("POSTGRES_DB", "POSTGRESQL_DATABASE")}
	case "mysql":
		return Account{User: of("MYSQL_USER", "MARIADB_USER"), Password: of("MYSQL_PASSWORD", "MARIADB_PASSWORD"), Database: of("MYSQL_DATABASE", "MARIADB_DATABASE"),
			AdminPassword: of("MYSQL_ROOT_PASSWORD", "MARIADB_ROOT_PASSWORD")}
	case "rabbitmq":
		return Account{User: of("RABBITMQ_DEFAULT_USER", "RABBITMQ_USERNAME"), Password: of("RABBITMQ_DEFAULT_PASS", "RABBITMQ_PASSWORD"), Database: of("RABBITMQ_DEFAULT_VHOST")}
	}
	return Account{}
}

var variableRE = lazyregexp.New(`\$\{[A-Za-z_][A-Za-z0-9_]*:?-([^${}]*)\}`)

// expandVariables gives a text with the defaults of its variables; a text with a
// variable that has none is nothing.
func expandVariables(s string) string {
	s = variableRE.ReplaceAllString(s, "$1")
	if strings.Contains(s, "$") {
		return ""
	}
	return strings.TrimSpace(s)
}
