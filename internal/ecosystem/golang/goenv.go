package golang

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"time"

	"company/internal/ecosystem"
)

// Settings that are passed to the go command in a container.
const (
	sumDB = "GOSUMDB"   // empty or "off" means that the client checks no sums
	noSum = "GONOSUMDB" // patterns of module paths
)

// ReadSettings runs the go command, which knows its own files and defaults.
func (Ecosystem) ReadSettings(ctx context.Context, host ecosystem.Host) (up ecosystem.Upstream, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	// Prevent a project's go.mod from selecting the toolchain that answers.
	out, err := host.Run(ctx, []string{"GOTOOLCHAIN=local", "GOWORK=off", "HOME=" + host.Home()}, "go", "env", "-json",
		"GOPROXY", sumDB, noSum, "GOPRIVATE", "GONOPROXY")
	if errors.Is(err, ecosystem.ErrNoProgram) {
		host.AddNote("there is no go command on this host: no Go modules are served")
		return up, nil
	}
	var set map[string]string
	if err == nil {
		err = json.Unmarshal(out, &set)
	}
	if err != nil {
		if ctx.Err() != nil {
			return up, context.Cause(ctx)
		}
		host.AddNote("the go command does not say what its proxy is: no Go modules are served")
		return up, nil
	}
	up.Endpoints = parseProxies(host, set["GOPROXY"])
	if len(up.Endpoints) == 0 {
		host.AddNote("GOPROXY names no proxy: Go modules are fetched from proxies only, so none are served")
	}
	up.Settings = map[string]string{sumDB: set[sumDB], noSum: set[noSum]}
	if up.Settings[noSum] == "" {
		up.Settings[noSum] = set["GOPRIVATE"]
	}
	up.Private = set["GOPRIVATE"]
	if more := set["GONOPROXY"]; more != "" && more != "none" && more != up.Private {
		up.Private = strings.Trim(up.Private+","+more, ",")
	}
	return up, nil
}

// parseProxies parses a list of proxies in the form of GOPROXY.
func parseProxies(host ecosystem.Host, list string) (out []ecosystem.Endpoint) {
	for list != "" {
		i := strings.IndexAny(list, ",|")
		one, orElse := list, false
		if i >= 0 {
			one = list[:i]
			orElse = list[i] == '|'
			list = list[i+1:]
		} else {
			list = ""
		}
		switch one = strings.TrimSpace(one); one {
		case "", "direct":
			continue // never fetch from addresses that module names point to
		case "off":
			return out
		}
		endpoint, err := ecosystem.ParseEndpoint(one)
		if err != nil {
			host.AddNote("an entry of GOPROXY is %v and is left out", err)
			continue
		}
		endpoint.NextOnAnyError = orElse
		out = append(out, ecosystem.WithNetrc(host, endpoint))
	}
	return out
}

// Folders of modules in a container: those of the image, which belong to root, and those that the go command fetches
// itself.
const (
	imageModules   = "/opt/gomod"
	fetchedModules = "/work/.fetched/gomod"
)

// ClientEnv gives the go command a separate cache once a module was added. The first build then takes longer. Before
// that, it uses only the image's modules.
func (Ecosystem) ClientEnv(upstream ecosystem.Upstream, address string, added bool) map[string]string {
	if !added {
		return nil
	}
	env := map[string]string{
		// Modules of the image are extracted from its download cache.
		"GOPROXY": "file://" + imageModules + "/cache/download," + address, "GOMODCACHE": fetchedModules, "GONOPROXY": "none",
		"GOVCS": "*:off",
	}
	maps.Copy(env, map[string]string{sumDB: upstream.Settings[sumDB], noSum: upstream.Settings[noSum]})
	if env[sumDB] == "" {
		env[sumDB] = "off"
	}
	return env
}
