// Package intake prepares a task: it fetches the base commit and finds the gates,
// and has the image made that the task's containers start from. The one needs git
// objects alone; the other goes on beside the planning, and workers get an image that has
// nothing compiled where it takes long. For a follow-up
// it starts from the branch of the pull request. TreeImages makes the image of
// a later tree, whose lock files may name more, and makes one again that was removed.
//
// It promises that nothing of the checkout is run or changed, that a failure
// which no second try mends is marked for a person, and that a tree whose lock
// files name a dependency that was never asked for gets no image. It does not
// plan and runs no gate.
package intake
