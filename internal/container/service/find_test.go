package service

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"company/internal/container"
	"company/internal/ecosystem/ecosystemtest"
	"company/internal/lib/boundedparse/parsetest"
	"company/internal/office/config"
)

// What files run is proposed with the place where it stands; what the config names is
// taken, with the account that those files give, and the version that Debian has.
func TestServicesOfAProject(t *testing.T) {
	tree := func() map[string]string {
		return map[string]string{
			"docker-compose.yml": "services:\n  app: {build: .}\n  cache:\n    image: docker.io/library/redis:7-alpine\n  " +
				"db:\n    image: postgres:15\n    environment:\n      - POSTGRES_USER=compose\n",
			".github/workflows/ci.yml": `jobs:
  test:
    runs-on: ubuntu-latest
    services:
      db:
        image: postgis/postgis:16-3.4
        env: {POSTGRES_USER: ci, POSTGRES_PASSWORD: "${PASSWORD:-pw}", POSTGRES_DB: "$UNKNOWN"}
      queue: {image: "rabbitmq:3"}
      documents: {image: "mongo:7"}
    steps: [{run: make}]
`,
		}
	}
	given := ecosystemtest.Tree(tree())
	got := Choose(given, []string{"postgres"})
	if want := []Wish{{Name: "postgres", Account: Account{User: "ci", Password: "pw"},
		Hosts: []string{"db", "db"}}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	notes := strings.Join(given.Notes(), "\n")
	for _, want := range []string{
		`.github/workflows/ci.yml asks for postgis/postgis:16-3.4; the image has Postgres 15 of Debian`,
		`redis, rabbitmq: named in docker-compose.yml, .github/workflows/ci.yml; to have it beside checks and workers, set gates.services: [postgres, redis, rabbitmq]`,
		`CI runs mongo beside its jobs, which Debian does not have: an image that has it (container.dockerfile) and a gates.test that starts it bring it`,
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("no note %q in\n%s", want, notes)
		}
	}
	auto := ecosystemtest.Tree(tree())
	names := []string{}
	for _, w := range Choose(auto, []string{Auto, "memcached"}) {
		names = append(names, w.Name)
	}
	if strings.Join(names, " ") != "memcached postgres rabbitmq" ||
		!strings.Contains(strings.Join(auto.Notes(), "\n"),
			"redis: named in docker-compose.yml; started where a check of the base looks for it") {
		t.Errorf("of the CI: %q %q", names, auto.Notes())
	}
	none := ecosystemtest.Tree(tree())
	if got := Choose(none, nil); got != nil ||
		!strings.Contains(strings.Join(none.Notes(), "\n"), "set gates.services: [postgres, redis, rabbitmq]") {
		t.Errorf("%+v %q", got, none.Notes())
	}
	quiet := ecosystemtest.Tree(map[string]string{"go.mod": "module x\n"})
	if Choose(quiet, nil); len(quiet.Notes()) > 0 {
		t.Errorf("%q", quiet.Notes())
	}
}

// Names from a repository's files stand in scripts and addresses: only plain ones are
// kept.
func TestAccountsArePlain(t *testing.T) {
	hostile := Account{User: "a\"; DROP", Password: "x'y", Database: "$(id)", AdminPassword: "`id`"}
	if got := hostile.keepPlain(); got != (Account{}) {
		t.Errorf("%+v", got)
	}
	plain := Account{User: "app_user", Password: "p@ss/w0rd!", Database: "app-test", AdminPassword: ""}
	if got := plain.keepPlain(); got != plain {
		t.Errorf("%+v", got)
	}
	if got := postgres.env(
		plain)["DATABASE_URL"]; got != "postgres://app_user:p%40ss%2Fw0rd%21@127.0.0.1:5432/app-test?sslmode=disable" {
		t.Error(got)
	}
}

// Names of hosts are those that are usual and those of a project's files, of one part
// each: no public name may be led astray.
func TestHostsOfServices(t *testing.T) {
	got := Hosts(
		[]Wish{{Name: "postgres",
			Hosts: []string{"Main-DB", "db", "registry.npmjs.org", "localhost", "a b", "x:10.0.0.1", "127"}}, {Name: "redis"}})
	if want := "postgres postgresql db redis main-db"; strings.Join(got, " ") != want {
		t.Errorf("%q, not %q", got, want)
	}
	tree := ecosystemtest.Tree(map[string]string{
		".gitlab-ci.yml": "test:\n  services:\n    - registry.example/library/mariadb:11\n    - {name: \"mysql:8\", alias: " +
			"store}\n  script: [make]\n",
		"compose.yaml": "services:\n  data:\n    image: mysql\n    hostname: inner\n    container_name: outer\n",
	})
	if got := Choose(tree, []string{"mysql"}); len(got) != 1 ||
		strings.Join(got[0].Hosts, " ") != "mariadb store data inner outer" {
		t.Errorf("%+v", got)
	}
}

// A project's files may name no more hosts than an image has room for.
func TestHostsAreBounded(t *testing.T) {
	var compose, ci strings.Builder
	compose.WriteString("services:\n")
	ci.WriteString("test:\n  script: [make]\n  services:\n")
	for i := range 5_000 {
		fmt.Fprintf(&compose, "  h%d: {image: redis}\n", i)
		fmt.Fprintf(&ci, "    - x%d\n", i)
	}
	tree := ecosystemtest.Tree(map[string]string{"compose.yaml": compose.String(), ".gitlab-ci.yml": ci.String()})
	wishes := Choose(tree, []string{"redis"})
	if len(wishes) != 1 || len(wishes[0].Hosts) < 2*container.MaxHosts {
		t.Fatalf("%d hosts, %q", len(wishes[0].Hosts), tree.Notes())
	}
	if got := Hosts(wishes); len(got) != container.MaxHosts || got[0] != "redis" {
		t.Errorf("%d hosts", len(got))
	}
	if _, others := Find(tree); len(others) > maxOthers {
		t.Errorf("%d others", len(others))
	}
}

// The config takes the services that there are, and no others.
func TestConfigNamesTheServices(t *testing.T) {
	if got := config.Services(); strings.Join(got, " ") != Auto+" "+strings.Join(Names(), " ") {
		t.Errorf("the config takes %q, there is %q", got, Names())
	}
}

// A job with thousands of services does not copy its variables for each.
func TestManyServicesCostWhatTheyAre(t *testing.T) {
	text := "env: {" + strings.Repeat("A: 1, ", 2) + "POSTGRES_USER: top, POSTGRES_DB: top}\njobs:\n  j:\n    env: {"
	for i := range 2000 {
		text += fmt.Sprintf("V%d: 1, ", i)
	}
	text += "}\n    services:\n      first: {image: postgres, env: {POSTGRES_USER: own}}\n"
	for i := range 2000 {
		text += fmt.Sprintf("      s%d: {image: redis}\n", i)
	}
	var found []Found
	_, allocated := parsetest.Measure(func() {
		found, _ = Find(ecosystemtest.Tree(map[string]string{".github/workflows/a.yml": text}))
	})
	if allocated > 64*parsetest.MiB {
		t.Errorf("%d MiB allocated", allocated/parsetest.MiB)
	}
	if len(found) != 2001 || found[0].Account.User != "own" || found[0].Account.Database != "top" {
		t.Errorf("%d services, the first %+v", len(found), found[0])
	}
}
