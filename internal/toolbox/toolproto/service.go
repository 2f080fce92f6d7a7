package toolproto

import "time"

// ServicesFile is the path of the list of servers in an image, as the JSON of Services.
const ServicesFile = "/opt/company/services.json"

// ServicesDir is the folder for data and logs of services in a container, with a subfolder for each. It is lost with
// the container.
const ServicesDir = "/tmp/services"

// ServiceTimeout is the timeout for starting all services.
const ServiceTimeout = 90 * time.Second

// CommandBegins is the line on stderr by which a gate's toolbox reports that the tree is complete and the command
// starts. Earlier output on stderr is the toolbox's own. Without this line an exit code is not a verdict on the tree.
const CommandBegins = "\x00toolbox: the command begins\n"

// ServiceFailed is the start of the line on stderr that reports that a service did not start. CommandBegins does not
// follow then.
const ServiceFailed = "toolbox: the service "

// ExitService is the exit code of a gate whose services did not start. A command may exit with the same code.
const ExitService = 119

// ServicesEnded is a variable of a gate's command. It contains shell lines that print ServiceEnded, the name and a
// bracket for each service that was started and no longer runs. The gate's script runs them after a failed check,
// while other processes still run.
const ServicesEnded = "TOOLBOX_SERVICES_ENDED"

// ServiceEnded is the start of the line about a service that ended before the check.
const ServiceEnded = "[ended before the check did, and serves no more: the service "

// Services are the servers of an image.
type Services struct {
	Services []Service `json:"services"`
	TimeoutS int       `json:"timeout_s"` // timeout for starting all services
}

// Service describes a server: how to start it, how to check that it is ready, and how commands find it.
type Service struct {
	Name string `json:"name"`
	// folder of the image that is copied to Dir/data when a container starts
	Data  string            `json:"data,omitempty"`
	Dir   string            `json:"dir"`           // the service's folder in a container
	Start []string          `json:"start"`         // the server in the foreground; its output goes to Dir/log
	Ready []string          `json:"ready"`         // command that succeeds once the server is ready
	Env   map[string]string `json:"env,omitempty"` // variables for commands
}
