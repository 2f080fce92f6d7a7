// Package serverprogram recognizes command lines that do not end by themselves: programs that serve, and programs that
// watch files. It contains their names and relevant arguments.
//
// It only processes text and uses only the standard library, because the toolbox in a container links it. Callers
// parse the shell syntax. Package service starts a project's databases.
package serverprogram

import (
	"slices"
	"strings"
)

// alwaysServe are programs that serve or watch until they are stopped.
var alwaysServe = strings.Fields(`nodemon http-server live-server json-server webpack-dev-server browser-sync
	uvicorn gunicorn hypercorn daphne waitress-serve
	nginx httpd apache2 caddy lighttpd redis-server postgres mysqld mongod memcached rabbitmq-server nats-server etcd minio
	air reflex entr inotifywait fswatch vite-node-dev ts-node-dev`)

// serveWith are programs that serve with certain first arguments.
var serveWith = map[string][]string{
	"next": {"dev", "start"}, "nuxt": {"dev", "start"}, "nuxi": {"dev", "preview"}, "astro": {"dev", "preview"},
	"remix": {"dev"}, "gatsby": {"develop", "serve"}, "ng": {"serve", "s"}, "vue-cli-service": {"serve"},
	"react-scripts": {"start"}, "webpack": {"serve", "watch"}, "parcel": {"serve", "watch"}, "storybook": {"dev"},
	"flask": {"run"}, "fastapi": {"dev", "run"}, "rails": {"server", "s"}, "hugo": {"server", "serve"},
	"jekyll": {"serve", "s"}, "mkdocs": {"serve"}, "cargo": {"watch"}, "celery": {"worker", "beat"},
	"wrangler": {"dev"}, "php": {"-S"}, "symfony": {"serve"}, "mix": {"phx.server"}, "dotnet": {"watch"},
	"bundle": {}, "ollama": {"serve"},
}

// scriptNames are usual names of package.json scripts that serve.
var scriptNames = []string{"dev", "start", "serve", "server", "watch", "develop", "preview", "storybook", "start:dev",
	"dev:server"}

// DescribeServer returns a description of a program that does not end by itself with these arguments, or "".
func DescribeServer(name string, args []string) string {
	first := ""
	if len(args) > 0 {
		first = args[0]
	}
	full := strings.TrimSpace(name + " " + first)
	if slices.ContainsFunc(args, func(a string) bool { return a == "--version" || a == "--help" || a == "-h" }) {
		return ""
	}
	switch name {
	case "npm", "pnpm", "yarn", "bun":
		rest := positionalArgs(args)
		if len(rest) > 1 && (rest[0] == "run" || rest[0] == "run-script") {
			rest = rest[1:]
		}
		if len(rest) > 0 && slices.Contains(scriptNames, rest[0]) {
			return strings.TrimSpace(name + " " + strings.Join(positionalArgs(args)[:min(2, len(positionalArgs(args)))], " "))
		}
		return ""
	case "vite":
		if rest := positionalArgs(args); len(rest) == 0 || slices.Contains([]string{"dev", "serve", "preview"}, rest[0]) {
			return full
		}
		return ""
	case "python", "python2", "python3":
		for i, a := range args {
			if a == "-m" && i+1 < len(args) && (args[i+1] == "http.server" || args[i+1] == "SimpleHTTPServer") {
				return name + " -m " + args[i+1]
			}
			if a == "-m" && i+1 < len(args) {
				return DescribeServer(args[i+1], args[i+2:])
			}
			if strings.HasSuffix(a, "manage.py") && i+1 < len(args) && args[i+1] == "runserver" {
				return a + " runserver"
			}
		}
		return ""
	case "bundle", "poetry", "uv", "pipenv", "rye", "pdm":
		if (first == "exec" || first == "run") && len(args) > 1 {
			return DescribeServer(args[1], args[2:])
		}
		return ""
	case "tail":
		if slices.ContainsFunc(args, func(a string) bool {
			return a == "-f" || a == "-F" || strings.HasPrefix(a, "--follow")
		}) {
			return "tail -f"
		}
		return ""
	case "tsc", "jest", "vitest", "rollup", "esbuild", "sass", "tailwindcss", "webpack", "mocha":
		if slices.ContainsFunc(args, func(a string) bool {
			return a == "--watch" || a == "-w" || a == "--watchAll" || strings.HasPrefix(a, "--watch=") && a != "--watch=false"
		}) {
			return name + " --watch"
		}
	}
	if slices.Contains(alwaysServe, name) {
		return name
	}
	if slices.Contains(serveWith[name], first) && first != "" {
		return full
	}
	return ""
}

// positionalArgs returns the arguments that are not options.
func positionalArgs(args []string) []string {
	var out []string
	for _, a := range args {
		if !strings.HasPrefix(a, "-") {
			out = append(out, a)
		}
	}
	return out
}
