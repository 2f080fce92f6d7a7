// Package service defines the servers that run beside checks and workers: databases and caches that a
// project's tests need. It knows the supported services and their Debian packages. It knows how to
// prepare their data when an image is built, and how to start them in a container. It also knows the
// variables by which commands find them, and finds the services that a project's compose files and CI
// definitions use.
//
// The package only transforms text and data: it starts no programs and opens no files. Package image
// builds the layers. The toolbox in a container starts the services that the image lists.
package service

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"company/internal/container"
	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
	"company/internal/toolbox/toolproto"
)

// Wish is a service that a project requests, with the host names that its tests use.
type Wish struct {
	Name    string // as in gates.services
	Account Account
	Hosts   []string // host names of the service in the project's files
}

// Account holds the login and the name of a database. An empty field means the server's default.
type Account struct {
	User, Password, Database string
	AdminPassword            string // password of mysql's root, if it differs
}

// server is one kind of service.
type server struct {
	name, title      string
	product, version string // of the Debian package
	port             int
	hosts            []string // usual host names of the service in projects
	packages         []string // Debian packages
	env              func(a Account) map[string]string
	// prepare returns a script that creates the data in ./data, below its working directory. It is nil
	// for a service without data.
	prepare func(a Account) string
	program string // if the image lacks this program, it lacks the service
	start   string // shell command; $dir is the service's folder
	ready   string
	files   func(a Account) map[string]string // files of the image besides the data, by name
	runLink string                            // folder below /run in which clients look for the server's socket
}

// servers lists all services in display order.
var servers = []server{postgres, redis, mysql, rabbitmq, memcached, mosquitto}

// Auto is a name in a list of services. It means the services that the project's CI runs beside its
// jobs.
const Auto = "auto"

// Names returns the names of all services.
func Names() []string {
	var out []string
	for _, s := range servers {
		out = append(out, s.name)
	}
	return out
}

func findServer(name string) (server, bool) {
	i := slices.IndexFunc(servers, func(s server) bool { return s.name == name })
	if i < 0 {
		return server{}, false
	}
	return servers[i], true
}

// Packages returns the Debian packages that the services need.
func Packages(wishes []Wish) []string {
	var out []string
	for _, w := range wishes {
		if s, ok := findServer(w.Name); ok {
			out = append(out, s.packages...)
		}
	}
	return out
}

// Hosts returns the host names that resolve to 127.0.0.1 beside these services: the usual ones and
// those in the project's own files. There are at most container.MaxHosts.
func Hosts(wishes []Wish) (out []string) {
	for _, w := range wishes {
		s, _ := findServer(w.Name)
		out = append(out, s.hosts...)
	}
	for _, w := range wishes {
		for _, name := range w.Hosts {
			if name = strings.ToLower(name); container.IsServiceHost(name) {
				out = append(out, name)
			}
		}
	}
	var once []string
	for _, name := range out {
		if len(once) < container.MaxHosts && !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return once
}

// dataPath is the image's folder with the initial data of services.
const dataPath = "/opt/services"

// Installs returns the layers of the services: a layer for the data of each, and last the list from
// which the toolbox starts them.
func Installs(wishes []Wish, places ecosystem.Places) ([]ecosystem.Install, error) {
	var out []ecosystem.Install
	list := toolproto.Services{TimeoutS: int(toolproto.ServiceTimeout.Seconds())}
	files := map[string]string{}
	var links []ecosystem.ImageFile
	var names []string
	for _, wish := range wishes {
		server, ok := findServer(wish.Name)
		if !ok {
			return nil, fmt.Errorf("unknown service %q", wish.Name)
		}
		account := wish.Account.keepPlain()
		names = append(names, server.name)
		list.Services = append(list.Services, server.describeService(account))
		if server.prepare != nil {
			out = append(out, server.makeDataLayer(account))
		}
		if server.files != nil {
			for name, text := range server.files(account) {
				files[path.Join(dataPath, server.name, name)] = text
			}
		}
		if server.runLink != "" {
			links = append(
				links, ecosystem.ImageFile{Path: "run/" + server.runLink, Link: path.Join(toolproto.ServicesDir, server.name)})
		}
	}
	text, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return nil, err
	}
	files[toolproto.ServicesFile] = string(text) + "\n"
	return append(out, makeListLayer(names, files, links)), nil
}

// makeDataLayer returns the layer with a service's data.
func (s server) makeDataLayer(account Account) ecosystem.Install {
	script := "export PATH=$PATH:" + extraPath + "\ncommand -v " + s.program + " >/dev/null || { echo 'there is no " +
		s.program + " in the image'; exit 127; }\n" + s.prepare(account)
	to := path.Join(dataPath, s.name, "data")
	return ecosystem.Install{
		Layer: s.name, Why: s.title + "'s data, freshly created", What: s.title, Inputs: []string{script},
		// The toolbox treats a command with the name of a server as a running service.
		Stage: []ecosystem.StagedFile{{Path: "prepare", Text: []byte(script)}},
		Steps: []ecosystem.Step{{
			Command: "sh ./prepare", Progress: "preparing " + s.title,
			Failure: s.title + "'s data cannot be prepared",
			Fix:     "take " + s.name + " out of gates.services, or install its server in the image with container.setup",
		}},
		Collector: func() ecosystem.Collector { return dataCollector{to} },
	}
}

// dataCollector collects only the files below the folder data.
type dataCollector struct{ to string }

func (c dataCollector) Place(entry ecosystem.Entry) (ecosystem.Entry, bool) {
	if entry.Path != "data" && !strings.HasPrefix(entry.Path, "data/") || entry.Link != "" {
		return ecosystem.Entry{}, false
	}
	return ecosystem.Entry{Path: path.Join(c.to, strings.TrimPrefix(entry.Path, "data"))}, true
}

func (dataCollector) Files() []ecosystem.ImageFile { return nil }

// listLayer is the kind of the layer that every image with services has.
const listLayer = "services"

// AreIn reports whether an image has services, given its layers as a prepared task lists them.
func AreIn(layers []string) bool {
	return slices.ContainsFunc(layers, func(l string) bool { return strings.HasPrefix(l, listLayer+"=") })
}

// makeListLayer returns the layer with the list of services and their small files.
func makeListLayer(names []string, files map[string]string, links []ecosystem.ImageFile) ecosystem.Install {
	var all []ecosystem.ImageFile
	var inputs []string
	for _, name := range sortedKeys(files) {
		all = append(all, ecosystem.ImageFile{Path: strings.TrimPrefix(name, "/"), Text: []byte(files[name])})
		inputs = append(inputs, name, files[name])
	}
	for _, l := range links {
		inputs = append(inputs, l.Path, l.Link)
	}
	all = append(all, links...)
	return ecosystem.Install{
		Layer: listLayer, Why: "how " + strings.Join(names, ", ") + " is started", Inputs: inputs,
		Collector: func() ecosystem.Collector { return fixedFiles(all) },
	}
}

// fixedFiles is a collector that adds given files and collects no others.
type fixedFiles []ecosystem.ImageFile

func (fixedFiles) Place(ecosystem.Entry) (ecosystem.Entry, bool) { return ecosystem.Entry{}, false }
func (f fixedFiles) Files() []ecosystem.ImageFile                { return f }

// extraPath lists Debian's folders for server programs that are not in PATH. Its shell expression
// selects the newest installed version.
const extraPath = `$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1):/usr/local/sbin:/usr/sbin:/sbin`

// describeService returns the service in the toolbox's format.
func (s server) describeService(account Account) toolproto.Service {
	dir := path.Join(toolproto.ServicesDir, s.name)
	shell := func(text string) []string {
		return []string{"/bin/sh", "-c",
			"dir=" + dir + "; files=" + path.Join(dataPath, s.name) + "; PATH=$PATH:" + extraPath + "; exec " + text}
	}
	out := toolproto.Service{Name: s.name, Dir: dir, Start: shell(s.start), Ready: shell(s.ready), Env: s.env(account)}
	if s.prepare != nil {
		out.Data = path.Join(dataPath, s.name, "data")
	}
	return out
}

var (
	plainName     = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_-]{0,62}$`)
	plainPassword = lazyregexp.New(`^[A-Za-z0-9_.!@#%^*+=~:/-]{0,128}$`)
)

// keepPlain clears names and passwords with unsafe characters. They come from a repository's files and
// are inserted into scripts and addresses.
func (a Account) keepPlain() Account {
	keep := func(s *string, allowed *lazyregexp.Regexp) {
		if !allowed.MatchString(*s) {
			*s = ""
		}
	}
	keep(&a.User, plainName)
	keep(&a.Database, plainName)
	keep(&a.Password, plainPassword)
	keep(&a.AdminPassword, plainPassword)
	return a
}

func sortedKeys(m map[string]string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
