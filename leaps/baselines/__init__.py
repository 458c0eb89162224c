"""What programs are compared with: neural policies, trees, and a network that writes programs."""
