package config

import (
	"slices"
	"strings"
	"time"

	"company/internal/company"
)

// Config is the complete config: values that no source sets have their default. It is loaded once and never changed.
// Do not write into its lists and maps.
//
// The tags are the schema. yaml is the key, enum the allowed values, min and max the bounds. drivers is a kind of
// drivers, whose names are allowed as well. doc is the one-line description for people and the JSON Schema. check names
// a further check of a text.
type Config struct {
	Version       int              `yaml:"version" min:"1" max:"1" doc:"format of this file"`
	Models        map[string]Model `yaml:"models" doc:"model profiles by name"`
	Agents        Agents           `yaml:"agents" doc:"model and turns of each role"`
	Workers       Workers          `yaml:"workers" doc:"number and limits of workers"`
	Container     Container        `yaml:"container" doc:"image of the containers"`
	Deps          Deps             `yaml:"deps" doc:"package installation"`
	Bus           Bus              `yaml:"bus" doc:"storage of the ledger and the queue"`
	Git           Git              `yaml:"git" doc:"branches, remote and credentials"`
	Forge         Forge            `yaml:"forge" doc:"where pull requests are opened"`
	Gates         Gates            `yaml:"gates" doc:"checks that must pass before a merge"`
	Budget        Budget           `yaml:"budget" doc:"spending caps of a task, a day and the office"`
	Approvals     Approvals        `yaml:"approvals" doc:"decisions that need your approval"`
	Limits        Limits           `yaml:"limits" doc:"retries, timeouts and concurrency"`
	Plan          PlanLimits       `yaml:"plan" doc:"how tasks begin, and the size of subtasks"`
	Review        Review           `yaml:"review" doc:"confirmation of review findings"`
	Serve         Serve            `yaml:"serve" doc:"address of company serve"`
	Watch         Watch            `yaml:"watch" doc:"the terminal UI"`
	Notify        Notify           `yaml:"notify" doc:"notifications away from the screen"`
	Log           Log              `yaml:"log" doc:"company.log of the office"`
	Paths         ReadablePaths    `yaml:"paths" doc:"folders of readable files, beside .company/; only in the office's own company.yaml"`
	Recovery      string           `yaml:"recovery" enum:"auto ask" doc:"unfinished tasks at the next start: continue (auto), or stay paused until company resume (ask)"`
	RetentionDays int              `yaml:"retention_days" min:"0" max:"3650" doc:"days to keep files, journals and repositories of finished runs"`
}

// Model is a model profile. A profile replaces the profile of the same name in a lower source as a whole, so that an
// API key is never sent to another profile's URL.
type Model struct {
	Adapter       string   `yaml:"adapter" drivers:"adapter" doc:"wire protocol"`
	Model         string   `yaml:"model" doc:"model name at its server"`
	BaseURL       string   `yaml:"base_url" check:"http_url" unset:"the adapter's own service" doc:"API address (default: the adapter's own service)"`
	APIKeyEnv     string   `yaml:"api_key_env" check:"env_name" unset:"the usual variable of the adapter's own service" doc:"variable with the API key"`
	Fallback      []string `yaml:"fallback" doc:"profiles to try in order when this one fails"`
	ContextTokens int      `yaml:"context_tokens" min:"0" max:"100000000" doc:"context size in tokens; 0: unknown"`
	MaxOutput     int      `yaml:"max_output" min:"0" max:"10000000" doc:"maximum tokens of a reply; 0: adapter's default"`
	Price         *Price   `yaml:"price" doc:"price, if known"`
	Script        string   `yaml:"script" doc:"script of the scripted adapter, relative to the office"`
	Temperature   *float64 `yaml:"temperature" min:"0" max:"2" doc:"sampling temperature (default: the server's)"`
	Tools         string   `yaml:"tools" enum:"auto yes no" doc:"send tools over the wire (yes) or as text (no); auto: detect"`
	Images        string   `yaml:"images" enum:"auto yes no" doc:"the model accepts images; auto: detect"`
	Program       string   `yaml:"program" check:"program_kind" doc:"for adapter cli: how the program works with company"`
	Bin           []string `yaml:"bin" check:"argument" doc:"for adapter cli: absolute path of the program in the image, and arguments"`
	Via           string   `yaml:"via" doc:"for adapter cli: profile whose server, key, price and limits the program's requests use"`
}

// Next returns the profiles that take over from this one, or that a program's requests use.
func (m Model) Next() []string {
	if m.Via != "" {
		return []string{m.Via}
	}
	return m.Fallback
}

// Price of a million tokens.
type Price struct {
	Input  USD `yaml:"input" doc:"USD per million input tokens"`
	Output USD `yaml:"output" doc:"USD per million output tokens"`
	Cached USD `yaml:"cached" doc:"USD per million cached input tokens"`
	Write  USD `yaml:"cache_write" doc:"USD per million tokens written to a cache; 0: as input"`
}

// Agents has one entry per role.
type Agents struct {
	Manager  Agent       `yaml:"manager" doc:"plans tasks"`
	Worker   WorkerAgent `yaml:"worker" doc:"does subtasks"`
	Reviewer Agent       `yaml:"reviewer" doc:"reviews subtasks"`
	Merger   Agent       `yaml:"merger" doc:"resolves conflicts"`

	SecondReviewer Agent `yaml:"second_reviewer" doc:"second opinion, used if the reviewer approves without evidence and by review.confirm; without a model you decide"`
}

// Agent is the config of a role.
type Agent struct {
	Model    string `yaml:"model" doc:"model profile"`
	MaxTurns int    `yaml:"max_turns" min:"1" max:"1000" doc:"maximum model replies of a run"`
	Persona  string `yaml:"persona" doc:"text added to the role's instructions"`

	// Who the agent is (SUB-6).
	Title            string   `yaml:"title" doc:"what it is, such as Go developer; company agents shows it at work"`
	Responsibilities []string `yaml:"responsibilities" doc:"its duties, added to the role's instructions"`
	Capabilities     []string `yaml:"capabilities" doc:"its abilities, added to the instructions; a manager is told its workers'"`
}

// WorkerAgent is the config of the worker role, with the profiles that a stuck worker may get.
type WorkerAgent struct {
	Model      string   `yaml:"model" doc:"model profile"`
	MaxTurns   int      `yaml:"max_turns" min:"1" max:"1000" doc:"maximum model replies of a run; another program has 100 if none is set"`
	Persona    string   `yaml:"persona" doc:"text added to the role's instructions"`
	EscalateTo []string `yaml:"escalate_to" doc:"profiles that the manager may give a stuck subtask"`

	Title            string   `yaml:"title" doc:"what it is, such as Go developer; company agents shows it at work"`
	Responsibilities []string `yaml:"responsibilities" doc:"its duties, added to the role's instructions"`
	Capabilities     []string `yaml:"capabilities" doc:"its abilities, added to the instructions; a manager is told its workers'"`
}

// Agent returns the agent config of a worker, until the manager gives it another model.
func (w WorkerAgent) Agent() Agent {
	return Agent{Model: w.Model, MaxTurns: w.MaxTurns, Persona: w.Persona,
		Title: w.Title, Responsibilities: w.Responsibilities, Capabilities: w.Capabilities}
}

// Instructions returns the text that the config adds to the role's instructions, or "".
func (a Agent) Instructions() string {
	parts := []string{a.Persona}
	if a.Title != "" {
		parts = append(parts, "Your title: "+a.Title)
	}
	for _, list := range []struct {
		heading string
		lines   []string
	}{{"Your responsibilities:", a.Responsibilities}, {"Your capabilities:", a.Capabilities}} {
		if len(list.lines) > 0 {
			parts = append(parts, list.heading+"\n- "+strings.Join(list.lines, "\n- "))
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "\n\n")
}

// Workers sets the size of the pool and the limits of one worker.
type Workers struct {
	Max            int           `yaml:"max" min:"1" max:"64" doc:"maximum workers (in a project: limits.writers); the default is lower if memory is short"`
	CommandTimeout time.Duration `yaml:"command_timeout" min:"1s" max:"15m" doc:"timeout of one command in a container"`
	RunTimeout     time.Duration `yaml:"run_timeout" min:"10s" max:"168h" doc:"timeout of one run, without waits for models"`
	Memory         Size          `yaml:"memory" min:"64m" max:"64t" doc:"memory of one container"`
	CPUs           float64       `yaml:"cpus" min:"0.1" max:"1024" doc:"CPUs of one container, at most the host's"`
	PIDs           int           `yaml:"pids" min:"32" max:"1000000" doc:"maximum processes of one container"`
	Disk           AutoSize      `yaml:"disk" min:"64m" max:"64t" doc:"workspace of one container; auto: 10g on disk, else 2g in memory"`
	Warm           int           `yaml:"warm" min:"0" max:"64" doc:"containers kept ready for each image in use"`
	Commands       []string      `yaml:"commands" check:"program" doc:"programs that agents' commands may start, such as go; empty: all"`
}

// Container describes the container of a worker.
type Container struct {
	Image string `yaml:"image" check:"image" doc:"worker image; auto: built for the project"`
	// Dockerfile is read from the commit that a task starts from.
	Dockerfile string   `yaml:"dockerfile" check:"repo_file" doc:"Dockerfile or devcontainer.json of the repository, used instead of image"`
	Setup      []string `yaml:"setup" check:"command" doc:"commands that prepare the image as root, such as apt-get install"`
	SetupEnv   []string `yaml:"setup_env" check:"env_name" doc:"variables passed to setup only"`
	Deps       string   `yaml:"deps" enum:"locked off" doc:"packages from registry mirrors; off: no packages"`
	Logins     []string `yaml:"logins" check:"registry" doc:"registry hosts that may use your logins for every repository"`
	// DockerHost belongs in a person's own file: a repository must not choose the daemon.
	DockerHost     string        `yaml:"docker_host" check:"docker_host" doc:"Docker daemon if DOCKER_HOST is not set; never in a tracked file"`
	Allow          []string      `yaml:"allow" check:"docker_call" doc:"Docker commands for workers' containers; work needs all of them"`
	KeepImages     int           `yaml:"keep_images" min:"1" max:"1000" doc:"worker images kept for each project, besides those in use"`
	CleanupTimeout time.Duration `yaml:"cleanup_timeout" min:"5s" max:"10m" doc:"timeout for removing a container"`
}

// Deps sets which install scripts may run and which registries are not asked.
type Deps struct {
	Scripts []string `yaml:"scripts" check:"package" doc:"packages whose install scripts may run, without network"`
	Without []string `yaml:"without" check:"package_registry" doc:"registries not to use; with pypi, Debian's Python packages are used"`
}

// Bus sets the storage of messages and the ledger.
type Bus struct {
	Driver string `yaml:"driver" drivers:"bus" doc:"storage: embedded NATS server, or plain files; to convert: company bus convert"`
	// Path must not be chosen by a repository: it is a folder of the machine.
	Path string `yaml:"path" check:"dir" doc:"folder of the ledger, journals and queue, on a disk of this machine (default: the office's state folder)"`
}

// Git configures branches and credentials.
type Git struct {
	Base              string `yaml:"base" check:"branch" doc:"branch to start from"`
	IntegrationBranch string `yaml:"integration_branch" check:"target" doc:"prefix of the integration branches, not main or master"`
	Remote            string `yaml:"remote" check:"remote" doc:"remote to fetch and push"`
	Credential        string `yaml:"credential" enum:"deploy_key token ssh_agent" doc:"authentication at the remote"`
	DeployKeyFile     string `yaml:"deploy_key_file" check:"file" doc:"private key for credential: deploy_key"`
	// Only the president may allow the use of their own logins: see requireOwnLayer.
	UseMyLogins bool     `yaml:"use_my_logins" doc:"use your credential helpers, ~/.netrc and ~/.ssh if there is no token; never in a company.yaml"`
	Paths       []string `yaml:"paths" check:"folder" doc:"folders that the work is limited to; empty: all"`
	History     string   `yaml:"history" enum:"squash keep" doc:"commits of a pull request: one for each subtask (squash), or all (keep)"`
	Author      string   `yaml:"author" check:"author" doc:"author of all commits (default: company <company@localhost>)"`
	Signoff     bool     `yaml:"signoff" doc:"add Signed-off-by to each commit"`
	Sign        string   `yaml:"sign" enum:"none ssh gpg" doc:"sign the commits that the host makes"`
	SigningKey  string   `yaml:"signing_key" doc:"path of an ssh key, or id of a gpg key"`
}

// Forge configures the forge where pull requests are opened.
type Forge struct {
	Kind     string `yaml:"kind" enum:"auto local" drivers:"forge" doc:"kind of forge; auto: detect"`
	URL      string `yaml:"url" check:"http_url" unset:"the kind's own service" doc:"address of the forge (default: its public service)"`
	TokenEnv string `yaml:"token_env" check:"env_name" unset:"the usual variables of the kind's own tools" doc:"variable with the token"`
	// Poll applies to company serve. Other commands ask on demand.
	Poll time.Duration `yaml:"poll" min:"5s" max:"24h" doc:"how often company serve checks open pull requests"`
	// A GitHub App is used for login instead of a token if its id is set.
	AppID          int      `yaml:"app_id" min:"0" max:"2147483647" doc:"GitHub App to log in as; 0: use the token"`
	InstallationID int      `yaml:"installation_id" min:"0" max:"2147483647" doc:"installation of the App; 0: look it up"`
	PrivateKeyEnv  string   `yaml:"private_key_env" check:"env_name" doc:"variable with the App's private key or its path"`
	Labels         []string `yaml:"labels" check:"label" doc:"labels of each pull request; missing ones are created"`
	Draft          string   `yaml:"draft" enum:"auto always never" doc:"open pull requests as drafts; auto: if they are untested"`
	Reviewers      string   `yaml:"reviewers" enum:"codeowners none" doc:"who is asked for a review"`
	WebhookEnv     string   `yaml:"webhook_secret_env" check:"env_name" doc:"variable with the webhook secret"`
	WebhookListen  string   `yaml:"webhook_listen" check:"listen" doc:"address where company serve receives webhooks; empty: none"`
}

// Notify configures how the president is notified of questions.
type Notify struct {
	By         []string `yaml:"by" check:"notify_way" doc:"how to report questions, failures and pull requests"`
	WebhookURL string   `yaml:"webhook_url" check:"http_url" doc:"address for JSON posts; https, or http on this machine"`
	WebhookEnv string   `yaml:"webhook_secret_env" check:"env_name" doc:"variable with the secret that signs the posts"`
}

// Gates configures the checks that must pass.
type Gates struct {
	Lint           Command       `yaml:"lint" doc:"lint command; auto: detect"`
	Types          Command       `yaml:"types" doc:"type check command; auto: detect"`
	Build          Command       `yaml:"build" doc:"build command; auto: detect"`
	Test           Command       `yaml:"test" doc:"test command; auto: detect"`
	Generate       []string      `yaml:"generate" check:"generate" doc:"globs = command: regenerates these files when a merge conflicts"`
	Services       []string      `yaml:"services" check:"service" doc:"servers beside checks and workers; auto: those of the CI or that checks need"`
	None           string        `yaml:"none" enum:"ask allow fail" doc:"what to do without any gates"`
	RedGreen       string        `yaml:"red_green" enum:"off report require" doc:"run new tests without the change; require: one must fail"`
	Canary         bool          `yaml:"canary" doc:"verify that tests would notice a failure in the changed code"`
	FirstStepAfter time.Duration `yaml:"first_step_after" min:"0s" max:"24h" doc:"duration of the base's tests above which subtasks first run the affected tests only; 0s: never"`
	ProtectTests   bool          `yaml:"protect_tests" doc:"changes of existing tests need your approval"`
	Protected      []string      `yaml:"protected" check:"glob" doc:"paths whose changes need your approval"`
}

// Budget holds the caps of one task and of the office.
type Budget struct {
	USD    USDCap   `yaml:"usd" doc:"cap of a task in USD"`
	Tokens TokenCap `yaml:"tokens" doc:"cap of a task in tokens; auto: 5,000,000 if a price is unknown"`

	DayUSD       USDCap     `yaml:"day_usd" doc:"daily cap of the office in USD"`
	DayTokens    TokenLimit `yaml:"day_tokens" doc:"daily cap of the office in tokens"`
	OfficeUSD    USDCap     `yaml:"office_usd" doc:"total cap of the office in USD"`
	OfficeTokens TokenLimit `yaml:"office_tokens" doc:"total cap of the office in tokens"`
}

// Approvals sets which decisions need the president's approval.
type Approvals struct {
	Plan  string `yaml:"plan" enum:"auto ask" doc:"ask: you approve the plan"`
	Merge string `yaml:"merge" enum:"auto ask" doc:"ask: you approve each merge"`
	PR    string `yaml:"pr" enum:"auto ask" doc:"ask: you approve the pull request"`
	Deps  string `yaml:"deps" enum:"auto ask" doc:"ask: you approve new dependencies"`
}

// Limits holds retry limits, timeouts and concurrency limits.
type Limits struct {
	Continuations   int           `yaml:"continuations" min:"0" max:"100" doc:"more runs after running out of turns, before the manager is asked"`
	RunRetries      int           `yaml:"run_retries" min:"1" max:"20" doc:"retries of a subtask after failed runs, before the manager is asked"`
	GateRetries     int           `yaml:"gate_retries" min:"1" max:"20" doc:"retries after failed gates, before the manager is asked"`
	ReviewRounds    int           `yaml:"review_rounds" min:"1" max:"20" doc:"retries after a review requests changes, before the manager is asked"`
	Conflicts       int           `yaml:"conflicts" min:"1" max:"20" doc:"conflicts of a subtask that the merger resolves, before the manager is asked"`
	ModelWait       time.Duration `yaml:"model_wait" min:"0s" max:"168h" doc:"how long to wait for a busy or unreachable model"`
	ModelSilence    time.Duration `yaml:"model_silence" min:"0s" max:"1h" doc:"silence after which a model is asked again; 0s: 5m, for ollama 15m"`
	StopGrace       time.Duration `yaml:"stop_grace" min:"0s" max:"10m" doc:"time between SIGTERM and SIGKILL of an agent's command"`
	ConcurrentTasks int           `yaml:"concurrent_tasks" min:"1" max:"256" doc:"maximum concurrent tasks"`
	MergeStack      int           `yaml:"merge_stack" min:"1" max:"16" doc:"subtasks merged and tested together; 1: one by one"`
	Readers         int           `yaml:"readers" min:"1" max:"256" doc:"maximum concurrent managers and reviewers"`
	Exclusive       bool          `yaml:"exclusive" doc:"allow only one unfinished task per base branch"`
	Writers         int           `yaml:"writers" min:"0" max:"256" doc:"maximum concurrent workers and mergers of a project; 0: workers.max"`
}

// PlanLimits limits the size of the subtasks of a plan.
type PlanLimits struct {
	Way         string `yaml:"way" enum:"auto one split" doc:"begin with one worker (one) or a manager's plan (split); auto: by the instruction"`
	MaxSubtasks int    `yaml:"max_subtasks" min:"1" max:"64" doc:"maximum subtasks of a plan"`
	MaxWriteSet int    `yaml:"max_write_set" min:"1" max:"64" doc:"maximum paths and globs of a subtask"`
	MaxEffort   string `yaml:"max_effort" enum:"small medium large" doc:"maximum effort of a subtask"`
	AllowTiny   bool   `yaml:"allow_tiny" doc:"allow plans with tiny subtasks only"`
}

// Review sets how the findings of a review are confirmed.
type Review struct {
	Confirm string `yaml:"confirm" enum:"off blocking all" doc:"findings that a second reviewer confirms: none (off), blocking ones, or all"`
}

// Serve configures the TCP address of company serve, in addition to its socket.
type Serve struct {
	// If the default port is taken, a free one is used: see api.TCPOptions.
	Listen   string   `yaml:"listen" check:"listen_any" doc:"address of the page and the API; empty: none; port 0: any free port; remote access needs TLS"`
	TLSCert  string   `yaml:"tls_cert" check:"file" doc:"TLS certificate and chain in PEM"`
	TLSKey   string   `yaml:"tls_key" check:"file" doc:"TLS private key in PEM, readable by its owner only"`
	Hosts    []string `yaml:"hosts" check:"host_port" doc:"more host names for browsers, such as a proxy's"`
	TokenEnv string   `yaml:"token_env" check:"env_name" doc:"variable with an API token of at least 16 characters"`
}

// Watch configures company watch.
type Watch struct {
	Refresh time.Duration `yaml:"refresh" min:"1s" max:"1h" doc:"interval at which company watch reads the office if no event comes"`
}

// Log configures the log of an office.
type Log struct {
	Level string `yaml:"level" enum:"error warn info debug trace" doc:"log level; trace adds the conversations of agents"`
}

// dockerCalls lists the Docker commands of workers' containers.
var dockerCalls = []string{"run", "stop", "rm", "logs", "inspect"}

// Default returns the config of an office that sets no values.
func Default() Config {
	agent := Agent{MaxTurns: 30}
	return Config{
		Version: 1,
		Models:  map[string]Model{"default": {Adapter: "ollama", Model: "llama3", Tools: Auto, Images: Auto}},
		Agents: Agents{Manager: agent, Worker: WorkerAgent{MaxTurns: agent.MaxTurns}, Reviewer: agent, Merger: agent,
			SecondReviewer: agent},
		Workers: Workers{Max: 3, CommandTimeout: 300 * time.Second, RunTimeout: 30 * time.Minute,
			Memory: 4 << 30, CPUs: 2, PIDs: 512, Warm: 1},
		Container: Container{Image: Auto, Deps: "locked", CleanupTimeout: time.Minute, KeepImages: 5,
			Allow: slices.Clone(dockerCalls)},
		Bus: Bus{Driver: "nats"},
		Git: Git{Base: Auto, IntegrationBranch: "develop", Remote: "origin",
			Credential: "token", Sign: "none", History: company.HistorySquash},
		Forge: Forge{Kind: Auto, TokenEnv: "GITHUB_TOKEN", Poll: time.Minute, Draft: Auto, Reviewers: "codeowners"},
		Gates: Gates{Lint: Command{Mode: Auto}, Types: Command{Mode: Auto}, Build: Command{Mode: Auto},
			Test: Command{Mode: Auto}, Services: []string{Auto}, None: "ask", RedGreen: "report", Canary: true,
			FirstStepAfter: time.Minute},
		Budget: Budget{USD: 5_000_000, Tokens: TokensAuto, DayUSD: USDCap(company.NoCap),
			DayTokens: TokenLimit(company.NoCap),
			OfficeUSD: USDCap(company.NoCap), OfficeTokens: TokenLimit(company.NoCap)},
		Approvals: Approvals{Plan: Auto, Merge: Auto, PR: Auto, Deps: Auto},
		Limits: Limits{Continuations: 3, RunRetries: 2, GateRetries: 2, ReviewRounds: 2, Conflicts: 2,
			ModelWait: 15 * time.Minute, StopGrace: 3 * time.Second, ConcurrentTasks: 4, MergeStack: 4,
			Readers: 9, Writers: 4},
		Plan:          PlanLimits{Way: company.WayAuto, MaxSubtasks: 64, MaxWriteSet: 64, MaxEffort: company.EffortLarge},
		Review:        Review{Confirm: company.ConfirmOff},
		Serve:         Serve{Listen: "127.0.0.1:7777"},
		Watch:         Watch{Refresh: 5 * time.Second},
		Log:           Log{Level: "info"},
		Paths:         ReadablePaths{Runtime: DefaultRuntime, Backlog: DefaultBacklog},
		Recovery:      Auto,
		RetentionDays: 7,
	}
}

// BudgetCap returns the budget of a task. priced reports whether all of its models have a known price.
func (c Config) BudgetCap(priced bool) company.Amount {
	tokens := int64(c.Budget.Tokens)
	if c.Budget.Tokens == TokensAuto {
		tokens = company.NoCap
		if !priced {
			tokens = 5_000_000
		}
	}
	return company.Amount{MicroUSD: int64(c.Budget.USD), Tokens: tokens}
}

// OfficeCaps returns the caps for all tasks together.
func (c Config) OfficeCaps() company.OfficeCaps {
	return company.OfficeCaps{
		Day:    company.Amount{MicroUSD: int64(c.Budget.DayUSD), Tokens: int64(c.Budget.DayTokens)},
		Office: company.Amount{MicroUSD: int64(c.Budget.OfficeUSD), Tokens: int64(c.Budget.OfficeTokens)},
	}
}

// Agent returns the config of a role.
func (c Config) Agent(r company.Role) Agent {
	switch r {
	case company.Manager:
		return c.Agents.Manager
	case company.Reviewer:
		return c.Agents.Reviewer
	case company.Merger:
		return c.Agents.Merger
	}
	return c.Agents.Worker.Agent()
}

// HostResources are the resources of the host that limit a config.
type HostResources struct {
	CPUs       float64
	Memory     Size // memory of the daemon's machine
	SizeOption bool // whether the storage driver can limit a container's disk
}

// ForHost adapts values to the machine. workers.max, unless it is set, is lowered to the number that fits into memory
// (at least 1). workers.cpus is limited to the host's CPUs. An auto disk becomes a size.
func (l Loaded) ForHost(resources HostResources) Config {
	config := l.Config
	if l.Origin["workers.max"] == OriginDefault && resources.Memory > 0 {
		config.Workers.Max = max(1, min(config.Workers.Max, int(resources.Memory/config.Workers.Memory)))
	}
	if resources.CPUs > 0 {
		config.Workers.CPUs = min(config.Workers.CPUs, resources.CPUs)
	}
	if config.Workers.Disk == 0 {
		config.Workers.Disk = 2 << 30
		if resources.SizeOption {
			config.Workers.Disk = 10 << 30
		}
	}
	return config
}
