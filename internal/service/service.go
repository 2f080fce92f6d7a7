// Package service is the servers that checks and workers find beside them:
// databases and caches that a project's tests need. It owns which ones there are,
// their packages of Debian, how their data is prepared when an image is made, how
// they are started in a container, and by which variables commands find them. It
// also reads which of them a project's compose files and CI definitions name.
//
// It promises that all of it is text in and data out: it starts no program and
// opens no file. Package image makes the layers, and the toolbox in a container
// starts what the list in the image says.
package service

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"company/internal/container"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
	"company/internal/toolproto"
)

// Wish is a service that a project wants, and the names by which its tests know it.
type Wish struct {
	Name    string // as gates.services has it
	Account Account
	Hosts   []string // names of hosts by which the project's files know it
}

// Account is who logs in to a database, and where. Empty fields are the server's
// own defaults.
type Account struct {
	User, Password, Database string
	AdminPassword            string // of mysql's root, where it is another
}

// server is one kind of service.
type server struct {
	name, title      string
	product, version string // of Debian
	port             int
	hosts            []string // names of hosts that projects give it
	packages         []string // of Debian
	env              func(a Account) map[string]string
	// prepare is a script that makes the data below the folder that it runs in, at
	// ./data; nil: there is none.
	prepare func(a Account) string
	program string // without which the image has no such service
	start   string // a shell's text, with $dir for the service's folder
	ready   string
	files   func(a Account) map[string]string // of the image, beside the data; by name
	runLink string                            // a folder below /run where clients look for the server's socket
}

// servers are all kinds, in the order in which they are shown.
var servers = []server{postgres, redis, mysql, rabbitmq, memcached, mosquitto}

// Auto stands among names for the services that a project's CI runs beside its jobs.
const Auto = "auto"

// Names are the services that there are.
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

// Packages are those of Debian that the services need.
func Packages(wishes []Wish) []string {
	var out []string
	for _, w := range wishes {
		if s, ok := findServer(w.Name); ok {
			out = append(out, s.packages...)
		}
	}
	return out
}

// Hosts are the names that stand for 127.0.0.1 beside these services: those that are
// usual, and those of the project's own files.
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

// dataPath is the folder of the image that holds what services start from.
const dataPath = "/opt/services"

// Installs are the layers of the services: their data, and last the list by which
// the toolbox starts them.
func Installs(wishes []Wish, places ecosystem.Places) ([]ecosystem.Install, error) {
	var out []ecosystem.Install
	list := toolproto.Services{TimeoutS: int(toolproto.ServiceTimeout.Seconds())}
	files := map[string]string{}
	var links []ecosystem.ImageFile
	var names []string
	for _, w := range wishes {
		s, ok := findServer(w.Name)
		if !ok {
			return nil, fmt.Errorf("there is no service %q", w.Name)
		}
		account := w.Account.keepPlain()
		names = append(names, s.name)
		list.Services = append(list.Services, s.describeService(account))
		if s.prepare != nil {
			out = append(out, s.makeDataLayer(account))
		}
		if s.files != nil {
			for name, text := range s.files(account) {
				files[path.Join(dataPath, s.name, name)] = text
			}
		}
		if s.runLink != "" {
			links = append(links, ecosystem.ImageFile{Path: "run/" + s.runLink, Link: path.Join(toolproto.ServicesDir, s.name)})
		}
	}
	text, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return nil, err
	}
	files[toolproto.ServicesFile] = string(text) + "\n"
	return append(out, makeListLayer(names, files, links)), nil
}

// makeDataLayer is the layer of a service's data.
func (s server) makeDataLayer(a Account) ecosystem.Install {
	script := "export PATH=$PATH:" + extraPath + "\ncommand -v " + s.program + " >/dev/null || { echo 'there is no " + s.program + " in the image'; exit 127; }\n" + s.prepare(a)
	to := path.Join(dataPath, s.name, "data")
	return ecosystem.Install{
		Layer: s.name, Why: s.title + "'s data, made anew", What: s.title, Inputs: []string{script},
		// The toolbox takes a command with the name of a server for one that stays.
		Stage: []ecosystem.StagedFile{{Path: "prepare", Text: []byte(script)}},
		Steps: []ecosystem.Step{{
			Command: "sh ./prepare", Progress: "preparing " + s.title,
			Failure: s.title + "'s data cannot be prepared", Fix: "take " + s.name + " out of gates.services, or install its server in the image with container.setup",
		}},
		Collector: func() ecosystem.Collector { return dataCollector{to} },
	}
}

// dataCollector takes what lies below the folder data, and nothing else.
type dataCollector struct{ to string }

func (c dataCollector) Place(e ecosystem.Entry) (ecosystem.Entry, bool) {
	if e.Path != "data" && !strings.HasPrefix(e.Path, "data/") || e.Link != "" {
		return ecosystem.Entry{}, false
	}
	return ecosystem.Entry{Path: path.Join(c.to, strings.TrimPrefix(e.Path, "data"))}, true
}

func (dataCollector) Files() []ecosystem.ImageFile { return nil }

// listLayer is the kind of the layer that each image with services has.
const listLayer = "services"

// AreIn says whether an image has services, by its layers as a prepared task lists them.
func AreIn(layers []string) bool {
	return slices.ContainsFunc(layers, func(l string) bool { return strings.HasPrefix(l, listLayer+"=") })
}

// makeListLayer is the layer of the list, and of small files.
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

// fixedFiles is a collector that has only files of its own.
type fixedFiles []ecosystem.ImageFile

func (fixedFiles) Place(ecosystem.Entry) (ecosystem.Entry, bool) { return ecosystem.Entry{}, false }
func (f fixedFiles) Files() []ecosystem.ImageFile                { return f }

// extraPath is where Debian has programs of servers that are on no PATH. Its shell
// words name the newest version that is there.
const extraPath = `$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1):/usr/local/sbin:/usr/sbin:/sbin`

// describeService is a service as the toolbox has it.
func (s server) describeService(a Account) toolproto.Service {
	dir := path.Join(toolproto.ServicesDir, s.name)
	shell := func(text string) []string {
		return []string{"/bin/sh", "-c", "dir=" + dir + "; files=" + path.Join(dataPath, s.name) + "; PATH=$PATH:" + extraPath + "; exec " + text}
	}
	out := toolproto.Service{Name: s.name, Dir: dir, Start: shell(s.start), Ready: shell(s.ready), Env: s.env(a)}
	if s.prepare != nil {
		out.Data = path.Join(dataPath, s.name, "data")
	}
	return out
}

var (
	plainName     = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_-]{0,62}$`)
	plainPassword = lazyregexp.New(`^[A-Za-z0-9_.!@#%^*+=~:/-]{0,128}$`)
)

// keepPlain keeps plain names and passwords alone: they come from a repository's files
// and stand in scripts and addresses.
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
