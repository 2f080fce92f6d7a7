package config

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"company/internal/company"
)

// programs lists the known programs, with the adapters whose servers each can ask.
var programs = map[string][]string{
	"claude":     {"anthropic"},
	"codex":      {"openai"},
	"opencode":   {"openai", "scripted"},
	"stdio-json": {"openai", "anthropic", "scripted"},
}

// ollamaURLs holds the addresses of an Ollama of this machine, by adapter.
var ollamaURLs = map[string]string{"openai": "http://127.0.0.1:11434/v1", "anthropic": "http://127.0.0.1:11434"}

// needsBin is the program that is not installed, because it is the operator's own.
const needsBin = "stdio-json"

// validateProgram checks a profile whose agent is another program, and that no other profile has its keys.
func (c Config) validateProgram(name string, at func(key string) string) (ps problems) {
	model, key := c.Models[name], "models."+name
	add := func(field, what, found, fix string) {
		p := problem{at: at(key + field), key: key + field, what: what, fix: fix}
		if found != "" {
			p.found = shortenText(strconv.Quote(found))
		}
		ps = append(ps, p)
	}
	if model.Adapter != company.AdapterProgram {
		if model.Program != "" || len(model.Bin) > 0 || model.Via != "" {
			add(".adapter", "is "+model.Adapter+", and has keys of a program", "", "adapter: cli runs a program")
		}
		return ps
	}
	switch {
	case model.Program == "":
		add(".adapter", "is cli and has no program", "", "add program: "+listPrograms())
	case len(model.Bin) == 0 && model.Program != needsBin:
	case len(model.Bin) == 0:
		add(".program", "has no bin", "",
			"add bin: and the path of the program in the image, such as [/opt/acme/agent]")
	case !filepath.IsAbs(model.Bin[0]):
		add(".bin", "has no absolute path", model.Bin[0], "write the path from the image's root: no PATH is searched")
	case hasShellCode(model.Bin):
		add(".bin", "is a shell or an interpreter with code", strings.Join(model.Bin, " "),
			"put the code into a file of the image, and name that")
	}
	if model.Model != "" || model.BaseURL != "" || model.APIKeyEnv != "" || len(model.Fallback) > 0 {
		add(".adapter", "is cli, and has keys of a model's server", "",
			"leave model, base_url, api_key_env and fallback out; via names a profile that has them")
	}
	next := c.Models[model.Via].Adapter
	switch allowed := programs[model.Program]; {
	case model.Via == "" && model.Program != needsBin && allowed != nil:
		add(".program", "has no via", "", "add via: and the profile whose server, key and price it uses")
	case next != "" && allowed != nil && !slices.Contains(allowed, next):
		add(".via", "is a profile whose server "+model.Program+" cannot ask", next+" "+model.Via,
			"name a profile with adapter "+allowed[0]+"; Ollama serves that at base_url "+ollamaURLs[allowed[0]])
	case next == "anthropic" && slices.ContainsFunc(c.Models[model.Via].Fallback, c.isChat),
		next != "anthropic" && slices.ContainsFunc(c.Models[model.Via].Fallback,
			func(f string) bool { return !c.isChat(f) }):
		add(".via", "has a fallback of another wire", model.Via, "name a profile whose fallbacks have its adapter")
	}
	for _, a := range []struct{ role, model string }{{"manager", c.Agents.Manager.Model},
		{"reviewer", c.Agents.Reviewer.Model}, {"merger", c.Agents.Merger.Model},
		{"second_reviewer", c.Agents.SecondReviewer.Model}} {
		if a.model == name {
			agent := "agents." + a.role + ".model"
			ps = append(ps, problem{at: at(agent), key: agent, what: "is a program, and only workers can be",
				found: shortenText(strconv.Quote(name)), fix: "name a profile with another adapter"})
		}
	}
	return ps
}

// isChat reports whether the server of a profile speaks OpenAI's chat wire.
func (c Config) isChat(profile string) bool {
	return slices.Contains([]string{"openai", "scripted", ""}, c.Models[profile].Adapter)
}

func listPrograms() string { return strings.Join(slices.Sorted(maps.Keys(programs)), ", ") }

// codeFlags lists the letters of options that run code which is written in the command line, by program.
var codeFlags = map[string]string{"sh": "c", "bash": "c", "dash": "c", "zsh": "c", "ksh": "c", "ash": "c",
	"python": "c", "node": "ep", "perl": "eE", "ruby": "e", "php": "rB"}

// hasShellCode reports whether a command line runs code that is written in it.
func hasShellCode(bin []string) bool {
	for len(bin) > 0 {
		name := strings.TrimRight(path.Base(bin[0]), "0123456789.")
		flags := codeFlags[name]
		switch {
		case name == "busybox" || name == "toybox":
			bin = bin[1:]
			continue
		case name == "env":
			rest, isSplit := skipEnv(bin[1:])
			if isSplit {
				return true
			}
			bin = rest
			continue
		case flags == "":
			return false
		}
		return slices.ContainsFunc(bin[1:], func(arg string) bool {
			isShort := strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--")
			return isShort && strings.ContainsAny(arg, flags) || strings.HasPrefix(arg, "--eval") ||
				strings.HasPrefix(arg, "--print")
		})
	}
	return false
}

// skipEnv returns what env starts. isSplit means that env itself takes a line apart.
func skipEnv(args []string) (rest []string, isSplit bool) {
	for len(args) > 0 && (strings.HasPrefix(args[0], "-") || strings.Contains(args[0], "=")) {
		switch arg := args[0]; {
		case strings.HasPrefix(arg, "-S"), strings.HasPrefix(arg, "--split-string"):
			return nil, true
		case (arg == "-u" || arg == "-C" || arg == "--unset" || arg == "--chdir") && len(args) > 1:
			args = args[1:]
		}
		args = args[1:]
	}
	return args, false
}
