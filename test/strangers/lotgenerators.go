package strangers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// generator is a tool that makes a new project, as its documentation calls it.
type generator struct {
	name, version string
	script        string // makes the folder app
	lock          string // makes the lock file there
}

const (
	lockNpm  = "npm install --package-lock-only --ignore-scripts --no-audit --no-fund --silent"
	lockPnpm = "pnpm install --lockfile-only --ignore-scripts --silent"
	lockYarn = "yarn install --ignore-scripts --silent && rm -rf node_modules"
)

// generators are the tools that run with Node 20 and npm's registry alone.
var generators = []generator{
	{"create-next-app", "16.4.3",
		`gen create-next-app@16.4.3 create-next-app app --ts --eslint --app --tailwind --src-dir --import-alias '@/*' --use-npm --skip-install --yes`, lockNpm},
	{"nest", "12.0.8", `gen @nestjs/cli@12.0.8 nest new app --skip-git --skip-install --package-manager npm`, lockNpm},
	{"sv-vitest", "0.17.1",
		`gen sv@0.17.1 sv create app --template minimal --types ts --no-add-ons --no-install && cd app && gen sv@0.17.1 sv add vitest=usages:unit eslint prettier --no-install --no-git-check`, lockNpm},
	{"sv-library", "0.17.1", `gen sv@0.17.1 sv create app --template library --types ts --no-add-ons --no-install`,
		lockNpm},
	{"create-vue", "3.22.3", `gen create-vue@3.22.3 create-vue app --ts --vitest --eslint --prettier`, lockNpm},
	{"create-vue-pnpm", "3.22.3", `gen create-vue@3.22.3 create-vue app --ts --vitest --default`, lockPnpm},
	{"create-vite-react", "9.3.0", `gen create-vite@9.3.0 create-vite app --template react-ts --no-interactive`, lockNpm},
	{"create-vite-vue", "9.3.0", `gen create-vite@9.3.0 create-vite app --template vue-ts --no-interactive`, lockNpm},
	{"create-nx-workspace", "23.2.1",
		`gen create-nx-workspace@23.2.1 create-nx-workspace app --preset=ts --nxCloud=skip --packageManager=npm --skipGit --no-interactive && cd app && npx nx g @nx/js:lib packages/money --unitTestRunner=vitest --linter=none --no-interactive && rm -rf node_modules .nx`, lockNpm},
	{"fastify", "8.0.2", `gen fastify-cli@8.0.2 fastify generate app`, lockNpm},
	{"fastify-ts", "8.0.2", `gen fastify-cli@8.0.2 fastify generate app --lang=ts`, lockNpm},
	{"express-generator", "4.16.1", `gen express-generator@4.16.1 express --no-view app`, lockNpm},
	{"npm-workspaces", "fastify-8.0.2",
		`mkdir -p app/packages && (cd app/packages && gen fastify-cli@8.0.2 fastify generate api && gen create-vite@9.3.0 create-vite web --template vanilla-ts --no-interactive) && cd app && npm init -y --silent >/dev/null && npm pkg set private=true --json && npm pkg set 'workspaces[]=packages/*' 'scripts.test=npm test --workspaces --if-present' 'scripts.build=npm run build --workspaces --if-present'`, lockNpm},
	{"pnpm-workspaces", "vue-3.22.3",
		`mkdir -p app/packages && (cd app/packages && gen create-vue@3.22.3 create-vue web --ts --vitest --default && gen fastify-cli@8.0.2 fastify generate api) && cd app && printf 'packages:\n- packages/*\n' >pnpm-workspace.yaml && npm init -y --silent >/dev/null && npm pkg set private=true --json && npm pkg set packageManager=` + pnpm10 + ` scripts.test='pnpm -r test'`, lockPnpm},
	{"yarn-workspaces", "fastify-8.0.2",
		`mkdir -p app/packages && (cd app/packages && gen fastify-cli@8.0.2 fastify generate api && gen fastify-cli@8.0.2 fastify generate jobs) && cd app && npm init -y --silent >/dev/null && npm pkg set private=true --json && npm pkg set 'workspaces[]=packages/*' 'scripts.test=yarn workspaces run test'`, lockYarn},
}

// leftOut are generators that are named and not drawn.
const leftOut = `Left out by name: create-vue after 3.22.3, create-react-router, SvelteKit 3 and the Angular CLI
want Node 22; storybook and cargo-generate fetch from GitHub.`

func listGenerators() (out []Listed) {
	for _, g := range generators {
		out = append(out, Listed{Stratum: Generator, Name: g.name, Version: g.version})
	}
	return out
}

// fetchGenerated calls a generator. What it made is kept in the cache with its lock file.
func fetchGenerated(ctx context.Context, l Listed) (Checkout, error) {
	for _, g := range generators {
		if g.name != l.Name {
			continue
		}
		parent, err := cacheDir("generated")
		if err != nil {
			return Checkout{}, err
		}
		dir := filepath.Join(parent, l.Name+"@"+l.Version)
		return Checkout{Dir: filepath.Join(dir, "app")}, keepIn(dir, func(temp string) error { return g.callIn(ctx, temp) })
	}
	return Checkout{}, fmt.Errorf("unknown generator %q", l.Name)
}

// callIn calls the generator in a folder, with a home of its own.
func (g generator) callIn(ctx context.Context, temp string) error {
	home, err := os.MkdirTemp("", "company-generator-")
	if err != nil {
		return err
	}
	defer func() { _ = removeCopy(home) }()
	env := append(nodeEnv(home), "PATH="+filepath.Join(home, "tools", "node_modules", ".bin")+":"+os.Getenv("PATH"),
		"NX_DAEMON=false", "NEXT_TELEMETRY_DISABLED=1")
	tools := ""
	switch {
	case strings.Contains(g.lock, "pnpm"):
		tools = installManager(pnpm10)
	case strings.Contains(g.lock, "yarn"):
		tools = installManager(yarn1)
	}
	script := `gen() { p=$1; shift; npm exec --yes --package="$p" -- "$@" </dev/null; }` + "\n" + tools + "(" +
		g.script + ")\n"
	if err := runHere(ctx, temp, env, "bash", "-ec", script); err != nil {
		return err
	}
	app := filepath.Join(temp, "app")
	if err := runHere(ctx, app, env, "bash", "-ec", g.lock); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(filepath.Join(app, "node_modules")), os.RemoveAll(filepath.Join(app, ".git")))
}
