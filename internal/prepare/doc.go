// Package prepare prepares a task: it fetches the base commit, finds the gates, and has the image made that the
// task's containers start from. The first two steps only need git objects. The image is made while planning runs, and
// workers get an image without its compiled layers if it takes long. A follow-up starts from the branch of the pull
// request. TreeImages makes the image of a later tree, whose lock files may name more, and rebuilds a removed image.
//
// The package neither runs nor changes files of the checkout. It marks failures that a retry cannot fix for a person.
// A tree whose lock files name a dependency that was never requested gets no image. The package does not plan and
// runs no gate.
package prepare
