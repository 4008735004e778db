"""What the gradients of single operations are: a file for each sort of them."""
