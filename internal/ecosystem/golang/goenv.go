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

// Settings of the go command that go on to the one in a container.
const (
	sumDB = "GOSUMDB"   // empty or "off": sums are not checked by the client
	noSum = "GONOSUMDB" // patterns of module paths
)

// ReadSettings asks the go command, which knows its own files and defaults.
func (Ecosystem) ReadSettings(ctx context.Context, h ecosystem.Host) (up ecosystem.Upstream, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	// No go.mod of a project says which toolchain answers.
	out, err := h.Run(ctx, []string{"GOTOOLCHAIN=local", "GOWORK=off", "HOME=" + h.Home()}, "go", "env", "-json", "GOPROXY", sumDB, noSum, "GOPRIVATE", "GONOPROXY")
	if errors.Is(err, ecosystem.ErrNoProgram) {
		h.AddNote("there is no go command on this host: no Go modules are served")
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
		h.AddNote("the go command does not say what its proxy is: no Go modules are served")
		return up, nil
	}
	up.Endpoints = parseProxies(h, set["GOPROXY"])
	if len(up.Endpoints) == 0 {
		h.AddNote("GOPROXY names no proxy: Go modules are fetched from proxies only, so none are served")
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

// parseProxies are the proxies of a list in the form of GOPROXY.
func parseProxies(h ecosystem.Host, list string) (out []ecosystem.Endpoint) {
	for list != "" {
		i := strings.IndexAny(list, ",|")
		one, orElse := list, false
		if i >= 0 {
			one, orElse, list = list[:i], list[i] == '|', list[i+1:]
		} else {
			list = ""
		}
		switch one = strings.TrimSpace(one); one {
		case "", "direct":
			continue // never from the addresses that names point to
		case "off":
			return out
		}
		e, err := ecosystem.ParseEndpoint(one)
		if err != nil {
			h.AddNote("an entry of GOPROXY is %v and is left out", err)
			continue
		}
		e.NextOnAnyError = orElse
		out = append(out, ecosystem.WithNetrc(h, e))
	}
	return out
}

// Where modules are in a container: those of the image, which are root's, and
// those that the go command fetches itself.
const (
	imageModules   = "/opt/gomod"
	fetchedModules = "/work/.fetched/gomod"
)

// ClientEnv gives the go command a cache of its own once something was added,
// which costs a first build; until then it works from the image alone.
func (Ecosystem) ClientEnv(u ecosystem.Upstream, address string, added bool) map[string]string {
	if !added {
		return nil
	}
	env := map[string]string{
		// Modules of the image are unpacked out of its own download cache.
		"GOPROXY": "file://" + imageModules + "/cache/download," + address, "GOMODCACHE": fetchedModules, "GONOPROXY": "none", "GOVCS": "*:off",
	}
	maps.Copy(env, map[string]string{sumDB: u.Settings[sumDB], noSum: u.Settings[noSum]})
	if env[sumDB] == "" {
		env[sumDB] = "off"
	}
	return env
}
